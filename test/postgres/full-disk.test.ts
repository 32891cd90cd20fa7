import { CreateBucketCommand, DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync, appendFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../crash/s3-client.ts';
import { mountSmall, type SmallFileSystem } from '../disk/small-file-system.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

const Bucket = 'bucket';
const body = randomBytes(60_000);

let folder: string;
let disk: SmallFileSystem;
let postgres: TestPostgres;
let server: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-full-postgres-'));
  chmodSync(folder, 0o755);
  disk = await mountSmall('tmpfs', folder, 300);
  chmodSync(disk.path, 0o755);
  postgres = await startPostgres({ parent: disk.path, settings: { max_wal_size: '64MB', min_wal_size: '32MB' } });
  const url = new URL(postgres.url);
  url.password = postgres.password;
  server = await startServer({
    folder: join(folder, 'data'),
    env: { SVC_STORE_RECORDS: url.href, SVC_THREADS: '1' },
  });
  await untilReady(server);
  await clientOf(server).send(new CreateBucketCommand({ Bucket }));
}, 360_000);
afterAll(async () => {
  await server.stop();
  await postgres.remove();
  await disk.unmount();
  await rm(folder, { recursive: true });
});

async function statusOf(call: Promise<{ readonly $metadata: { readonly httpStatusCode?: number } }>): Promise<number> {
  try {
    return (await call).$metadata.httpStatusCode ?? 0;
  } catch (error) {
    return (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0;
  }
}

const put = (Key: string, Body = body) => statusOf(clientOf(server).send(new PutObjectCommand({ Bucket, Key, Body })));
const remove = (Key: string) => statusOf(clientOf(server).send(new DeleteObjectCommand({ Bucket, Key })));
const get = (Key: string) => statusOf(clientOf(server).send(new GetObjectCommand({ Bucket, Key })));
const readiness = async () => (await fetch(`${server.s3}/minio/health/ready`)).status;
const ballast = async () =>
  Number(
    (await postgres.asSuperuser(`select pg_total_relation_size(to_regclass('coffer_ballast')) as bytes`))[0]?.['bytes'],
  );

/** Leaves no byte on the disk. */
function fillDisk(): void {
  const filler = join(disk.path, 'filler');
  writeFileSync(filler, '');
  for (const bytes of [1024 * 1024, 4096]) {
    try {
      for (;;) appendFileSync(filler, Buffer.alloc(bytes));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
}

describe('a server whose database has a full disk', { timeout: 540_000 }, () => {
  it('refuses objects, gives and deletes what is there, stays ready, and takes objects again when there is room', async () => {
    const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
    for (const key of keys) expect(await put(key)).toBe(200);
    await expect.poll(ballast, { timeout: 180_000 }).toBeGreaterThan(0);
    fillDisk();
    for (const key of keys.slice(0, 20)) expect(await put(`more-${key}`)).toBe(507);
    // The pages of the tables have some room, which would do for a few deletes.
    for (let refused = 0, index = 0; refused < 10; index += 1) {
      const status = await put(`small-${index}`, Buffer.from('x'));
      expect([200, 507]).toContain(status);
      refused = status === 507 ? refused + 1 : 0;
    }
    for (const key of keys.slice(0, 50)) expect(await remove(key)).toBe(204);
    expect(await readiness()).toBe(200);
    expect(await get('key-70')).toBe(200);
    expect(await get('key-7')).toBe(404);
    rmSync(join(disk.path, 'filler'));
    await expect.poll(() => put('again'), { timeout: 360_000, interval: 1000 }).toBe(200);
    expect(await ballast()).toBeGreaterThan(0);
  });
});
