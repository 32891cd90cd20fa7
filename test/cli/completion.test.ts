import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';

const launcher = fileURLToPath(new URL('../../bin/coffer.js', import.meta.url));

const server = createServer((request, response) => {
  const list =
    request.url === '/'
      ? '<ListAllMyBucketsResult><Buckets><Bucket><Name>photos</Name></Bucket></Buckets></ListAllMyBucketsResult>'
      : '<ListBucketResult><CommonPrefixes><Prefix>2026/</Prefix></CommonPrefixes><Contents><Key>20.jpg</Key></Contents></ListBucketResult>';
  response.end(list);
});
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-completion-'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  env = { MC_HOST_mine: `http://access:secret-key@127.0.0.1:${(server.address() as AddressInfo).port}` };
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the candidates', () => {
  it.each([
    [['le'], 'legalhold\n'],
    [['ls', 'mi'], 'mine/\n'],
    [['ls', 'mine/ph'], 'mine/photos/\n'],
    [['ls', 'mine/photos/20'], 'mine/photos/20.jpg\nmine/photos/2026/\n'],
    [['ls', 'none/x'], ''],
    [['ls', '--summ'], '--summarize\n'],
    [['admin', 'user', 'inf'], 'info\n'],
  ])('%j', async (words, expected) => {
    // A completion gives up after 2 s.
    const offered = async () => {
      const { code, stdout } = await runCoffer(['__complete', '--', '-C', folder, ...words], { env });
      return [code, stdout.toString()];
    };
    await expect.poll(offered).toEqual([0, expected]);
  });

  it('are none, without an error, where the server does not answer', async () => {
    const { code, stdout, stderr } = await runCoffer(['__complete', '--', '-C', folder, 'ls', 'off/b'], {
      env: { MC_HOST_off: 'http://access:secret-key@127.0.0.1:9' },
    });
    expect([code, stdout.toString(), stderr]).toEqual([0, '', '']);
  });
});

it('bash completes by the script', async () => {
  const { stdout: script } = await runCoffer(['completion', 'bash']);
  await writeFile(join(folder, 'script'), script);
  const call = `coffer() { "${process.execPath}" "${launcher}" "$@"; }; source "$1"; COMP_WORDS=(coffer ls mine/ph); COMP_CWORD=2; _coffer; echo "\${COMPREPLY[@]}"`;
  const path = { PATH: process.env['PATH'] ?? '', COFFER_CONFIG_DIR: folder };
  const completed = async () => {
    const args = ['-c', call, 'bash', join(folder, 'script')];
    return (await promisify(execFile)('bash', args, { env: { ...env, ...path } })).stdout;
  };
  await expect.poll(completed).toBe('mine/photos/\n');
});

it('a script is there for four shells', async () => {
  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    expect((await runCoffer(['completion', shell])).stdout.toString()).toContain('coffer __complete --');
  }
  expect((await runCoffer(['completion', 'tcsh'])).stderr).toContain('bash, zsh, fish, powershell');
});
