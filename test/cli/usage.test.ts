import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let server: RunningServer;
let folder: string;

async function coffer(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCoffer(['--config-dir', join(folder, 'config'), ...args]);
  expect({ code, stderr }, `coffer ${args.join(' ')}\n${stdout.toString()}`).toEqual({ code: 0, stderr: '' });
  return stdout.toString('utf8');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-usage-'));
  // Only when it is asked for.
  server = await startServer({ env: { SVC_SCANNER_CYCLE: '0s' } });
  await untilReady(server);
  const keys = { input: `${server.accessKey}\n${server.secretKey}\n` };
  await runCoffer(['--config-dir', join(folder, 'config'), 'alias', 'set', 's', server.s3], keys);
  await coffer('mb', 's/photos', 's/zero');
  await writeFile(join(folder, 'file'), 'twelve bytes');
  await coffer('cp', join(folder, 'file'), 's/photos/1');
  await coffer('cp', join(folder, 'file'), 's/photos/2');
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('coffer admin usage', () => {
  it('says so where nothing was counted yet, as admin info does', async () => {
    expect(await coffer('admin', 'usage', 's')).toBe('Nothing was counted yet: `--now` has the server do it.\n');
    expect(await coffer('admin', 'info', 's')).toContain('2 Buckets; nothing was counted yet');
  });

  it('has the server count, and shows each bucket', async () => {
    expect(await coffer('admin', 'usage', 's', '--now')).toMatch(
      /^BUCKET +OBJECTS +SIZE\nphotos +2 +24B\nzero +0 +0B\n\n2 objects, 24B, as of \d{4}-/,
    );
    expect(await coffer('admin', 'info', 's')).toContain('24B Used, 2 Buckets, 2 Objects');
  });

  it('shows for scripts what was counted last', async () => {
    expect(JSON.parse(await coffer('--json', 'admin', 'usage', 's'))).toMatchObject({
      status: 'success',
      lastUpdate: expect.stringMatching(/Z$/),
      objects: 2,
      size: 24,
      buckets: [
        { bucket: 'photos', objects: 2, size: 24 },
        { bucket: 'zero', objects: 0, size: 0 },
      ],
    });
  });
});
