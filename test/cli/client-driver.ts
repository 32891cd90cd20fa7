import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { followCoffer, runCoffer, type CofferResult } from '../support/server/run-coffer.ts';

export interface ServerUnderTest {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  stop(): Promise<void>;
}

/** The client with the alias `s` for a server, and a folder for files. */
export class ClientDriver {
  #server: ServerUnderTest | undefined;
  #folder = '';

  async start(start: () => Promise<ServerUnderTest>): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'coffer-cli-'));
    this.#server = await start();
    const { url, accessKey, secretKey } = this.server;
    const set = await this.attemptWith({ input: `${accessKey}\n${secretKey}\n` }, 'alias', 'set', 's', url);
    expect(set.code, set.stderr).toBe(0);
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get server(): ServerUnderTest {
    if (this.#server === undefined) throw new Error('the server is not started');
    return this.#server;
  }

  /** A path below the folder of the test. */
  path(name = ''): string {
    return join(this.#folder, name);
  }

  async attempt(...args: string[]): Promise<CofferResult> {
    return this.attemptWith({}, ...args);
  }

  async attemptWith(options: { readonly input?: string }, ...args: string[]): Promise<CofferResult> {
    const all = ['--config-dir', this.path('config'), ...args];
    return runCoffer(all, { env: { MC_UPLOAD_MULTIPART_SIZE: '5MiB' }, ...options });
  }

  /** Runs a command that continues until it is interrupted, which happens after the steps, and after it has printed what is expected. */
  async follow(
    args: readonly string[],
    steps: readonly (() => Promise<unknown>)[],
    isPrinted: (printed: string) => boolean = () => true,
  ): Promise<Pick<CofferResult, 'code' | 'stderr'> & { readonly stdout: string }> {
    const left = [...steps];
    return followCoffer(['--config-dir', this.path('config'), ...args], async (printed) => {
      for (const step of left.splice(0)) await step();
      return isPrinted(printed);
    });
  }

  /** Expects success without warnings, and returns the output. */
  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(...args);
    expect({ code, stderr }, `coffer ${args.join(' ')}`).toEqual({ code: 0, stderr: '' });
    return stdout.toString('utf8');
  }

  /** Expects success, and returns the lines of JSON. */
  async json(...args: string[]): Promise<Record<string, unknown>[]> {
    const lines = (await this.run('--json', ...args)).split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** The names of the objects below a target. */
  async keys(target: string): Promise<unknown[]> {
    return (await this.json('ls', '-r', target)).map(({ key }) => key);
  }

  async file(path: string, content: string | Buffer): Promise<string> {
    const full = this.path(path);
    await mkdir(join(full, '..'), { recursive: true });
    await writeFile(full, content);
    return full;
  }
}
