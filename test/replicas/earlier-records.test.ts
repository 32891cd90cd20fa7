import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { folderMarker } from '../../server/store/blobs-marker.ts';
import { writeCheckpoint } from '../../server/store/checkpoint.ts';
import { unpromotedKey } from '../../server/store/promotion.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { type Deployment, newDeployment } from './deployment.ts';

const Bucket = 'bucket';
let deployment: Deployment;
let servers: readonly RunningServer[] = [];

beforeAll(async () => {
  deployment = await newDeployment();
  servers = await Promise.all([deployment.start(), deployment.start()]);
  const [one] = servers as [RunningServer];
  await s3Client(one).send(new CreateBucketCommand({ Bucket }));
}, 720_000);
afterAll(() => deployment?.remove());

const sql = (text: string) => deployment.postgres.asSuperuser(text, new URL(deployment.database.url).pathname.slice(1));
const tables = ['coffer_records', 'coffer_deletions', 'coffer_counts', 'coffer_commits', 'coffer_meta'];
// The servers try at any time whether the folder takes files.
const bodies = async () =>
  (await readdir(deployment.blobs, { recursive: true })).filter((name) => !name.startsWith('probe-')).toSorted();

/** Writes what a server writes in minutes. */
async function checkpoints(count: number): Promise<void> {
  const records = await openPostgresRecordStore({ ...deployment.database, log: pino({ enabled: false }) });
  const stores = { records, marker: folderMarker(deployment.blobs) };
  for (let n = 0; n < count; n += 1) await writeCheckpoint(stores, randomBytes);
  await records.close();
}

it('two servers whose records are put back to an earlier moment beneath them find it out, and remove nothing', async () => {
  const [, two] = servers as [RunningServer, RunningServer];
  await checkpoints(2);
  await sql(
    `begin isolation level repeatable read; ${tables.map((table) => `create table earlier_${table} as select * from ${table}`).join('; ')}; commit`,
  );
  await s3Client(two).send(new PutObjectCommand({ Bucket, Key: 'after', Body: randomBytes(300_000) }));
  await checkpoints(3);
  const before = await bodies();
  const last = await folderMarker(deployment.blobs).readCheckpoint();
  // A restore puts back the counts of the records, too, so that the comparison with them finds nothing.
  await sql(
    `begin; lock table ${tables.join()}; ` +
      `${tables.map((table) => `delete from ${table}; insert into ${table} select * from earlier_${table}`).join('; ')}; commit`,
  );
  // The server with the lease looks every half minute. The lease may be another server's first.
  const marked = `select convert_from(value, 'UTF8') as value from coffer_records where key = decode('${unpromotedKey.toString('hex')}', 'hex')`;
  const reason = async () => String((await sql(marked))[0]?.['value']);
  await expect.poll(reason, { timeout: 450_000, interval: 500 }).toContain('older-records');
  expect(await folderMarker(deployment.blobs).readCheckpoint()).toEqual(last);
  expect(await bodies()).toEqual(before);
}, 720_000);
