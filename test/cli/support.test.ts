import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readZip } from '../../server/administration/zip.ts';
import { fullForm } from '../support/full-form.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';

let folder: string;
const limits = { entries: 1_000, size: 1e8 };

async function coffer(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCoffer(['--config-dir', join(folder, 'config'), ...args]);
  expect({ code, stderr }, `coffer ${args.join(' ')}\n${stdout.toString()}`).toEqual({ code: 0, stderr: '' });
  return stdout.toString('utf8');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-support-'));
  const server = await sharedServer();
  await runCoffer(['--config-dir', join(folder, 'config'), 'alias', 'set', 's', server.s3, 'root', 'root-password']);
  await coffer('mb', 's/photos');
  await s3Client(server).send(new PutObjectCommand({ Bucket: 'photos', Key: 'cat', Body: 'secret-body' }));
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('coffer support', { timeout: 360_000 }, () => {
  // The drive is measured with a file of 1 GiB, which only the gate has time for.
  const kinds = fullForm ? [] : ['object'];

  it(`perf measures objects${fullForm ? ' and the drive' : ''}`, async () => {
    const options = ['--size', '1KiB', '--duration', '1s', '--concurrent', '2'];
    const said = await coffer('--json', 'support', 'perf', ...kinds, 's', ...options);
    const lines = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly type: string });
    expect(lines.map(({ type }) => type)).toEqual(fullForm ? ['drive', 'object'] : ['object']);
    expect(lines.at(-1)).toMatchObject({
      perf: { size: 1_024, PUTStats: { throughputPerSec: expect.any(Number) as number } },
    });
    expect(await coffer('ls', 's')).not.toContain('speedtest');
  });

  it('profile and diag write files for their owner alone', async () => {
    const profile = join(folder, 'profile.zip');
    await coffer('support', 'profile', 's', '--duration', '1', '--type', 'mem', '--output', profile);
    const names = (await readZip(await readFile(profile), limits)).map(({ name }) => name);
    expect(names).toContain('http-1.heapprofile');
    const report = join(folder, 'health.json');
    await coffer('support', 'diag', 's', '--output', report);
    expect((await stat(report)).mode & 0o777).toBe(0o600);
    const text = await readFile(report, 'utf8');
    expect(text).toContain('"deploymentID"');
    expect(text).not.toContain('root-password');
  });

  it('inspect writes a zip', async () => {
    const file = join(folder, 'inspect.zip');
    await coffer('support', 'inspect', 's/photos/*', '--output', file);
    const [entry] = await readZip(await readFile(file), limits);
    expect(JSON.parse(entry?.content.toString() ?? '')).toMatchObject({ key: 'cat', size: 11 });
  });

  it('top and scanner show what there is', async () => {
    expect(await coffer('support', 'top', 'locks', 's')).toContain('Write');
    for (const kind of ['drive', 'net', 'rpc']) await coffer('support', 'top', kind, 's', '-n', '1');
    expect(await coffer('admin', 'scanner', 'status', 's', '-n', '1')).toContain('CheckObject');
    await coffer('admin', 'scanner', 'status', 's', '--bucket', 'photos');
    expect(await coffer('admin', 'top', 'locks', 's')).toContain('data folder');
  });
});
