import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { damageBlobs } from './data-folder.ts';
import { lines, storeTool, storeToolHere } from './run-store-tool.ts';

const large = 300_000;
let base: Awaited<ReturnType<typeof temporaryFolder>>;
let server: RunningServer;
let s3: S3Client;

beforeAll(async () => {
  base = await temporaryFolder();
  server = await startServer({ folder: join(base.path, 'data'), env: { SVC_PROMETHEUS_AUTH_TYPE: 'public' } });
  await untilReady(server);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: 'bucket' }));
  for (let index = 0; index < 20; index += 1)
    await s3.send(object(`key-${index}`, index % 2 === 0 ? large + index : 100));
});
afterAll(async () => {
  await server.stop();
  await base.remove();
});

function object(key: string, size: number): PutObjectCommand {
  return new PutObjectCommand({ Bucket: 'bucket', Key: key, Body: Buffer.alloc(size, key) });
}

function asked(...args: readonly string[]) {
  const env = { COFFER_ACCESS_KEY: server.accessKey, COFFER_SECRET_KEY: server.secretKey };
  return storeToolHere([...args, '--server', server.s3], env);
}

/** A server starts on the folder, takes changes, and gives back what was stored. */
async function expectServed(folder: string): Promise<void> {
  const other = await startServer({ folder });
  try {
    await untilReady(other);
    const client = s3Client(other);
    await client.send(object('more', 10));
    const read = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'key-0' }));
    expect((await read.Body?.transformToByteArray())?.length).toBe(large);
    client.destroy();
  } finally {
    await other.stop();
  }
}

describe('a running server', () => {
  it('verifies its own stores', async () => {
    const { code, stdout, stderr } = await asked('verify');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('20 objects');
  });

  it('does so for administrators alone', async () => {
    const env = { COFFER_ACCESS_KEY: server.accessKey, COFFER_SECRET_KEY: 'wrong' };
    const { code, stderr } = await storeTool(['verify', '--server', server.s3], env);
    expect(code).toBe(1);
    expect(stderr).toContain('SignatureDoesNotMatch');
  });

  it(
    'takes a snapshot under load that restores to stores in which nothing is wrong',
    { timeout: 270_000 },
    async () => {
      const finished = new AbortController();
      const load = Promise.all(
        Array.from({ length: 4 }, async (_, writer) => {
          for (let round = 0; !finished.signal.aborted; round += 1) {
            const key = `load-${writer}-${round % 4}`;
            await s3.send(object(key, round % 3 === 0 ? large : 1_000));
            if (round % 5 === 0) await s3.send(new DeleteObjectCommand({ Bucket: 'bucket', Key: key }));
          }
        }),
      );
      const { code, stderr } = await asked('snapshot', 'monday');
      finished.abort();
      await load;
      expect(code, stderr).toBe(0);
      const snapshot = join(server.folder, 'snapshots', 'monday');
      const restored = join(base.path, 'restored');
      const restoring = await storeToolHere(['restore', snapshot, restored]);
      expect(restoring.code, restoring.stdout + restoring.stderr).toBe(0);
      expect((await storeToolHere(['verify', restored, '--grace', '0'])).code).toBe(0);
      await expectServed(restored);
    },
  );

  it('takes no snapshot outside its folder, and none twice', async () => {
    const outside = await asked('snapshot', '../outside');
    expect(outside.code).toBe(1);
    expect(outside.stderr).toContain('is not a valid snapshot name');
    expect((await asked('snapshot', 'twice')).code).toBe(0);
    expect((await asked('snapshot', 'twice')).stderr).toContain('exists already');
  });

  it('refuses changes while it is read-only, and can be copied meanwhile', { timeout: 180_000 }, async () => {
    expect((await asked('read-only', 'on')).code).toBe(0);
    expect(await refusal(s3.send(object('refused', 10)))).toEqual({ code: 'ServiceUnavailable', status: 503 });
    expect(await refusal(s3.send(new DeleteObjectCommand({ Bucket: 'bucket', Key: 'key-0' })))).toMatchObject({
      status: 503,
    });
    const read = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'key-0' }));
    expect((await read.Body?.transformToByteArray())?.length).toBe(large);
    const copy = join(base.path, 'copy');
    const copying = await storeToolHere(['copy', server.folder, copy]);
    expect(copying.code, copying.stdout + copying.stderr).toBe(0);
    expect((await storeToolHere(['verify', copy, '--grace', '0'])).code).toBe(0);
    await expectServed(copy);
    expect((await asked('read-only', 'off')).code).toBe(0);
    // The command waits until each thread has seen it.
    await Promise.all(Array.from({ length: 16 }, () => s3.send(object('taken', 10))));
  });

  it('is not copied while it takes changes', async () => {
    const { code, stderr } = await storeToolHere(['copy', server.folder, join(base.path, 'other')]);
    expect(code).toBe(1);
    expect(stderr).toContain('make it read-only');
  });

  it('quarantines what a read finds damaged, tells of it, and heals by overwriting', async () => {
    const place = { Bucket: 'bucket', Key: 'key-2' };
    // Large enough for a file of its own.
    await s3.send(object('key-2', 5_000_000));
    expect(await damageBlobs(server.folder, 5_000_000)).toBe(1);
    await expect(
      s3.send(new GetObjectCommand(place)).then(({ Body }) => Body?.transformToByteArray()),
    ).rejects.toThrow();
    await expect
      .poll(async () => (await refusal(s3.send(new GetObjectCommand(place)))).code, { timeout: 60_000 })
      .toBe('InternalError');
    // The answer does not wait for the record of the quarantine, which HEAD reads.
    await expect
      .poll(async () => (await refusal(s3.send(new HeadObjectCommand(place)))).status, { timeout: 60_000 })
      .toBe(500);
    const found = await asked('verify', '--json');
    expect(found.code).toBe(1);
    expect(lines(found)).toContainEqual(expect.objectContaining({ kind: 'damaged-body', key: 'key-2' }));
    const metrics = await (await fetch(`${server.s3}/minio/v2/metrics/cluster`)).text();
    expect(metrics).toMatch(/^coffer_objects_quarantined\{[^}]*\} 1$/m);
    await s3.send(object('key-2', 10));
    const healed = await s3.send(new GetObjectCommand(place));
    expect((await healed.Body?.transformToByteArray())?.length).toBe(10);
    expect((await asked('verify')).code).toBe(0);
  });
});
