import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../crash/s3-client.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { readinessOf, type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

const Bucket = 'bucket';
const large = randomBytes(5 * 1024 * 1024);
const packed = randomBytes(300_000);

let base: string;
let blobs: string;
let server: RunningServer;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'coffer-volume-'));
  blobs = join(base, 'mounted');
  await mkdir(blobs);
  server = await startServer({
    folder: join(base, 'data'),
    // A failed call is not repeated by the client.
    env: { SVC_STORE_BLOBS: blobs, SVC_THREADS: '2' },
  });
  await untilReady(server);
  await clientOf(server).send(new CreateBucketCommand({ Bucket }));
});
afterAll(async () => {
  await server.stop();
  await rm(base, { recursive: true });
});

const readiness = () => readinessOf(server);
const put = (Key: string, Body: Buffer) => clientOf(server).send(new PutObjectCommand({ Bucket, Key, Body }));
const get = async (Key: string) => {
  const { Body } = await clientOf(server).send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};
interface Info {
  readonly servers: readonly { readonly drives: readonly object[] }[];
}
const unavailable = { name: 'ServiceUnavailable', $metadata: { httpStatusCode: 503 } };

describe('a server whose volume of blobs goes', { timeout: 360_000 }, () => {
  it('is not ready, refuses bodies, loses none, and goes on when the volume is back', async () => {
    await put('large', large);
    await put('packed', packed);
    // The path leads to the empty folder beneath, as after `umount`.
    const volume = join(base, 'volume');
    await rename(blobs, volume);
    await mkdir(blobs);
    for (const body of [large, packed]) await expect(put('beneath', body)).rejects.toMatchObject(unavailable);
    await expect(get('large')).rejects.toMatchObject(unavailable);
    // A segment that is open may still be read.
    await expect.poll(readiness, { timeout: 90_000 }).toBe('503 bodies');
    const info = async () => (await adminCall(server.s3, server, 'GET', 'info')).value as Info;
    expect(await info()).toMatchObject({
      backend: { onlineDisks: 0, offlineDisks: 1 },
      servers: [{ drives: [{ state: 'offline' }] }],
    });
    // The size of the folder beneath is that of another file system.
    expect((await info()).servers[0]?.drives[0]).not.toHaveProperty('totalspace');
    const storage = (await adminCall(server.s3, server, 'GET', 'storageinfo')).value;
    expect(storage).toMatchObject({ Disks: [{ state: 'offline' }] });
    // What needs no body is served.
    await put('small', Buffer.from('small'));
    expect((await get('small')).toString()).toBe('small');
    const { KeyCount } = await clientOf(server).send(new ListObjectsV2Command({ Bucket }));
    expect(KeyCount).toBe(3);
    expect(await readdir(blobs)).toEqual([]);
    await rm(blobs, { recursive: true });
    await rename(volume, blobs);
    await expect.poll(readiness, { timeout: 90_000 }).toBe('200');
    await put('after', large);
    await put('after-packed', packed);
    for (const [key, body] of [
      ['large', large],
      ['packed', packed],
      ['after', large],
      ['after-packed', packed],
    ] as const) {
      expect((await get(key)).equals(body)).toBe(true);
    }
    expect(server.log.join('\n')).toMatch(/the folder for blobs \S+mounted is not available/);
  });

  it('is not ready while the record file is another one, and refuses to commit', async () => {
    const file = join(base, 'data', 'records', 'data.mdb');
    await rename(file, `${file}.away`);
    await expect(put('lost', Buffer.from('x'))).rejects.toMatchObject(unavailable);
    await expect.poll(readiness, { timeout: 90_000 }).toBe('503 records');
    await rename(`${file}.away`, file);
    await expect.poll(readiness, { timeout: 90_000 }).toBe('200');
    await put('kept', Buffer.from('x'));
  });

  it('locks its folder again after `rm lock`', async () => {
    await rm(join(base, 'data', 'lock'));
    await server.untilLogged('it has locked the folder again');
    await expect(startServer({ folder: join(base, 'data') })).rejects.toThrow('is in use by another server');
    expect(server.ended()).toBeUndefined();
  });
});
