import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  SelectObjectContentCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { report } from '../support/report.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

/** `.ci/soak select` reads 5 GiB. */
const mebibytes = Number(process.env['COFFER_SELECT_MIB'] ?? 256);
const object = { Bucket: 'large', Key: 'rows.csv' };
const MIB = 2 ** 20;
const partBytes = 32 * MIB;
const line = `${'x'.repeat(57)},12345\n`;
const parts = Math.ceil((mebibytes * MIB) / partBytes);
const rows = (parts * partBytes) / line.length;

let server: RunningServer;
let s3: S3Client;

beforeAll(async () => {
  server = await startServer({ env: { SVC_THREADS: '1' } });
  await untilReady(server);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: object.Bucket }));
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(object));
  const Body = Buffer.from(line.repeat(partBytes / line.length));
  const Parts = [];
  for (let PartNumber = 1; PartNumber <= parts; PartNumber += 1) {
    const { ETag } = await s3.send(new UploadPartCommand({ ...object, UploadId, PartNumber, Body }));
    Parts.push({ ETag, PartNumber });
  }
  await s3.send(new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload: { Parts } }));
}, 1_200_000);
afterAll(() => server.stop());

/** A field of the status of a process in bytes; 0 for one that has ended. */
async function statusOf(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) * (field === 'PPid' ? 1 : 1_024);
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map((pid) => statusOf(pid, 'PPid')));
  return pids.filter((_, at) => parents[at] === parent);
}

/** Looks at the memory until `ended`: without the pages of files, the highest of the server and of a process of a query. */
async function watchMemory(ended: () => boolean): Promise<{ readonly ofServer: number; readonly ofQuery: number }> {
  let [ofServer, ofQuery] = [0, 0];
  while (!ended()) {
    ofServer = Math.max(ofServer, await statusOf(server.pid, 'RssAnon'));
    for (const child of await childrenOf(server.pid)) ofQuery = Math.max(ofQuery, await statusOf(child, 'RssAnon'));
    await sleep(100);
  }
  return { ofServer, ofQuery };
}

async function select(Expression: string): Promise<{ readonly text: string; readonly bytes: number }> {
  const { Payload } = await s3.send(
    new SelectObjectContentCommand({
      ...object,
      Expression,
      ExpressionType: 'SQL',
      InputSerialization: { CSV: { FileHeaderInfo: 'NONE' } },
      OutputSerialization: { CSV: {} },
    }),
  );
  let [text, bytes] = ['', 0];
  for await (const { Records } of Payload ?? []) {
    const chunk = Buffer.from(Records?.Payload ?? []);
    bytes += chunk.length;
    text = (text + chunk.toString('latin1')).slice(0, 100);
  }
  return { text, bytes };
}

it(`queries ${mebibytes} MiB in memory that does not grow with the object`, { timeout: 2_400_000 }, async () => {
  const before = await statusOf(server.pid, 'RssAnon');
  const state = { done: false };
  const memory = watchMemory(() => state.done);
  const began = performance.now();
  const sum = await select('SELECT COUNT(*), SUM(_2) FROM S3Object');
  const all = await select('SELECT * FROM S3Object');
  state.done = true;
  const { ofServer, ofQuery } = await memory;
  expect(sum.text).toBe(`${rows},${rows * 12_345}\n`);
  expect(all.bytes).toBe(rows * line.length);
  const shown = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;
  report(
    `S3 Select: ${shown(rows * line.length)} of CSV, a sum and all records, in ${Math.round((performance.now() - began) / 1_000)} s: ` +
      `${shown(ofQuery)} in the process of the query, and the server went from ${shown(before)} to ${shown(ofServer)}`,
  );
  // Both hold the same for an object of any size.
  expect(ofQuery).toBeLessThan(450 * MIB);
  expect(ofServer - before).toBeLessThan(250 * MIB);
});
