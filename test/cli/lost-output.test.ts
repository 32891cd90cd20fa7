import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forEachLimit } from '../../platform/concurrency.ts';
import { fullForm } from '../support/full-form.ts';
import { programArguments, programEnvironment } from '../support/process/program.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let folder: string;
let server: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-lost-output-'));
  server = await startServer();
  await untilReady(server);
  await writeFile(join(folder, 'file'), 'a file\n');
  for (const line of ['mb s/box', 'cp FOLDER/file s/box/dir/file', 'share download s/box/dir/file']) {
    const { code, stderr } = await runCoffer(wordsOf(line), { env: environment() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }
}, 60_000);

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

function environment(): Record<string, string> {
  const host = server.s3.replace('http://', `http://${server.accessKey}:${server.secretKey}@`);
  return { COFFER_CONFIG_DIR: join(folder, 'config'), COFFER_HOST_s: host };
}

function wordsOf(line: string): string[] {
  return line.split(' ').map((word) => word.replace('FOLDER', folder));
}

/** A command of each kind of output. None of them changes what another one reads. */
const lines = [
  'ls s/box',
  'ls s',
  'ls -r --summarize s/box',
  'tree s/box',
  'stat s/box/dir/file',
  'stat FOLDER/file',
  'du s/box',
  'find s/box',
  'diff FOLDER s/box',
  'cat s/box/dir/file',
  'cat FOLDER/file',
  'head s/box/dir/file',
  'cp s/box/dir/file /dev/stdout',
  'cp FOLDER/file s/box/other',
  'put FOLDER/file s/box/other',
  'mirror --dry-run FOLDER s/box/',
  'rm --dry-run s/box/dir/file',
  'mb -p s/box',
  'sql --csv-input fd=, --query select%20*%20from%20s3object s/box/dir/file',
  'share download s/box/dir/file',
  'share list download',
  'tag set s/box a=b',
  'version info s/box',
  'anonymous get s/box',
  'alias list',
  'alias export local',
  'ready s',
  'ping -c 1 s',
  'admin info s',
  'admin config export s',
  'admin user list s',
  'admin policy list s',
  'completion bash',
  'help',
  '--help',
  '--version',
] as const;

type Output = 'full' | 'a pipe without a reader';

async function end(line: string, output: Output): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const main = programArguments(new URL('../../cli/main.ts', import.meta.url));
  const env = { PATH: process.env['PATH'] ?? '', ...programEnvironment, ...environment() };
  const full = output === 'full' ? await open('/dev/full', 'w') : undefined;
  const args = [...main, ...wordsOf(line).map((word) => decodeURIComponent(word))];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', full?.fd ?? 'pipe', 'pipe'] });
  child.stdout?.destroy();
  if (child.stderr === null) throw new Error('standard error is no pipe');
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number | null]>]);
  await full?.close();
  return { code, stderr };
}

/** Every command with every output; `npm test` tries a part of them. A closed output is not among them: Node opens /dev/null in its place. */
const cases = lines
  .flatMap((line) => [line, `--json ${line}`])
  .flatMap((line) => (['full', 'a pipe without a reader'] as const).map((output) => ({ line, output })))
  .filter((_, at) => fullForm || at % 17 === 0);

// Only Linux has /dev/full, on which every write fails.
it.skipIf(!existsSync('/dev/full'))(
  'an output that cannot be written ends each command with 1',
  { timeout: 240_000 },
  async () => {
    const wrong: unknown[] = [];
    await forEachLimit(cases, 4, async ({ line, output }) => {
      const { code, stderr } = await end(line, output);
      // The reader of a pipe that is gone knows that it has gone.
      const message = 'coffer: standard output cannot be written: no space is left on the device\n';
      const said = output === 'full' ? message : '';
      if (code !== 1 || stderr !== said) wrong.push({ line, output, code, stderr });
    });
    expect(wrong).toEqual([]);
  },
);
