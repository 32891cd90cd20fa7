import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { runCommand } from '../support/process/run-command.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

/** A stock program with a server, and a folder of its own that is its home. */
export interface StockProgram {
  readonly server: RunningServer;
  /** The SDK of AWS, for what the program has no command for. */
  readonly s3: S3Client;
  readonly folder: string;
  /** Runs the program, expects success, and returns what it printed. */
  run(...args: readonly string[]): Promise<string>;
  /** Runs the program, and returns its exit code and both outputs. */
  try(...args: readonly string[]): Promise<{ readonly code: number | null; readonly text: string }>;
  /** Writes a file into the folder, and returns its path. */
  file(name: string, content: string | Buffer): Promise<string>;
  stop(): Promise<void>;
}

/** `configure` returns the environment of the program, and the arguments that come first. */
export async function stockProgram(
  program: string,
  configure: (server: RunningServer, folder: string) => { env?: Record<string, string>; args?: string[] },
): Promise<StockProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-client-'));
  const server = await startServer();
  await untilReady(server);
  const s3 = s3Client(server);
  const { env = {}, args: first = [] } = configure(server, folder);
  const attempt = async (...args: readonly string[]) => {
    const options = { env: { HOME: folder, LC_ALL: 'C.UTF-8', ...env }, cwd: folder };
    const { code, stdout, stderr } = await runCommand(program, [...first, ...args], options);
    return { code, text: stdout + stderr, stdout };
  };
  return {
    server,
    s3,
    folder,
    try: attempt,
    async run(...args) {
      const { code, text, stdout } = await attempt(...args);
      expect(code, `${program} ${args.join(' ')}\n${text}`).toBe(0);
      return stdout;
    },
    async file(name, content) {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    async stop() {
      s3.destroy();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
