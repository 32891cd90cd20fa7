import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClient } from '../support/server/client-process.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { sharedServer, type SharedAccess } from '../support/server/shared-server.ts';

let folder: string;
let server: SharedAccess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-config-folder-'));
  server = await sharedServer();
  const { code } = await attempt('mb', 's/config-folder');
  expect(code).toBe(0);
  await attempt('pipe', 's/config-folder/x');
});

afterAll(() => rm(folder, { recursive: true }));

const host = (): string => server.s3.replace('http://', `http://${server.accessKey}:${server.secretKey}@`);

async function attempt(...args: readonly string[]) {
  return runCoffer(['--config-dir', folder, ...args], { env: { COFFER_HOST_s: host() } });
}

async function json(...args: readonly string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await attempt('--json', ...args);
  const lines = stdout.toString().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Runs several commands as processes that start at once. */
async function atOnce(count: number, argsOf: (at: number) => readonly string[]): Promise<void> {
  const env = { COFFER_HOST_s: host(), COFFER_ACCESS_KEY: server.accessKey, COFFER_SECRET_KEY: server.secretKey };
  const started = Array.from({ length: count }, (_, at) => startClient(['--config-dir', folder, ...argsOf(at)], env));
  const ended = await Promise.all(started.map(async (one) => one.ended));
  expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(ended.map(() => ({ code: 0, stderr: '' })));
}

it('has what every command of several at once wrote', { timeout: 180_000 }, async () => {
  await atOnce(4, (at) => ['alias', 'set', `a${at}`, server.s3]);
  const names = (await json('alias', 'list')).map(({ alias }) => alias);
  expect(names).toEqual(['a0', 'a1', 'a2', 'a3', 'local', 's']);
  await atOnce(4, (at) => ['share', 'download', 's/config-folder/x', '--expire', `${at + 1}h`]);
  expect(await json('share', 'list', 'download')).toHaveLength(4);
  await atOnce(4, (at) => ['alias', 'remove', `a${at}`]);
  expect((await json('alias', 'list')).map(({ alias }) => alias)).toEqual(['local', 's']);
  expect([await readdir(folder), await readdir(join(folder, 'share'))]).toEqual([
    ['config.json', 'share'],
    ['downloads.json'],
  ]);
});
