import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutBucketVersioningCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../support/seeded-random.ts';
import { verifyFolder } from '../crash/verify-folder.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { report } from '../support/report.ts';
import { damage, faults, places, storedBytes, type Victim, store } from './faults.ts';
import { seed } from '../support/seed.ts';

/** The gate asks for 60, `.ci/soak damage` for 1,000; `npm test` has time for these. */
const wanted = Number(process.env['COFFER_FAULTS'] ?? 14);
const BATCH = 120;
const Bucket = 'damaged';
const env = { SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}` };

interface Tally {
  faults: number;
  refused: number;
  cut: number;
  noncurrent: number;
  /** Ranges that the damage does not touch. */
  intact: number;
}

/** What a client gets: all the bytes that it could take for whole, or nothing. */
async function got(
  client: S3Client,
  { key, versionId }: Victim,
  range: string | undefined,
): Promise<Buffer | 'refused' | 'cut'> {
  let body;
  try {
    const answer = await client.send(
      new GetObjectCommand({ Bucket, Key: key, VersionId: versionId, ...(range && { Range: range }) }),
    );
    body = answer.Body;
  } catch {
    return 'refused';
  }
  try {
    return Buffer.from((await body?.transformToByteArray()) ?? []);
  } catch {
    return 'cut';
  }
}

async function served<T>(path: string, work: (server: RunningServer, client: S3Client) => Promise<T>): Promise<T> {
  const server = await startServer({ folder: path, env });
  const client = s3Client(server);
  try {
    await untilReady(server);
    return await work(server, client);
  } finally {
    client.destroy();
    await server.stop();
  }
}

describe('damage on the disk', () => {
  const random = new SeededRandom(seed);
  const tally: Tally = { faults: 0, noncurrent: 0, refused: 0, cut: 0, intact: 0 };
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coffer-damage-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Whole and ranged, in an order that chance decides: the first damaged answer marks the object. */
  async function read(client: S3Client, object: Victim, wrong: string[]): Promise<void> {
    const { key, bytes } = object;
    const start = random.between(0, bytes.length - 1);
    const end = random.between(start, bytes.length - 1);
    const ranges = [undefined, `bytes=${start}-${end}`];
    if (random.between(0, 1) === 1) ranges.reverse();
    for (const range of ranges) {
      const answer = await got(client, object, range);
      if (answer === 'refused' || answer === 'cut') {
        tally[answer] += 1;
        continue;
      }
      const expected = range === undefined ? bytes : bytes.subarray(start, end + 1);
      if (!answer.equals(expected)) wrong.push(`${key} ${range ?? 'whole'}: wrong bytes`);
      else if (range === undefined) wrong.push(`${key} was given whole in spite of its damage`);
      else tally.intact += 1;
    }
  }

  /** Every fault at every place, by turns. */
  function victim(number: number): Victim {
    const place = places[number % places.length] ?? 'blob';
    const fault = faults[Math.floor(number / places.length) % faults.length] ?? 'bit';
    const size = place.includes('inline') ? random.between(1, 100_000) : random.between(131_073, 700_000);
    // Every second round over all faults and places is of noncurrent versions.
    const noncurrent = Math.floor(number / (places.length * faults.length)) % 2 === 1 || number % 7 === 0;
    return {
      key: `object-${number}-${place.replaceAll(' ', '-')}`,
      bytes: random.bytes(size),
      fault,
      place,
      noncurrent,
    };
  }

  async function batch(number: number, count: number): Promise<void> {
    const path = join(folder, String(number));
    const victims = Array.from({ length: count }, (_, index) => victim(number * BATCH + index));
    const earlier = victims.filter(({ fault }) => fault === 'older');
    await served(path, async (_, client) => {
      await client.send(new CreateBucketCommand({ Bucket }));
      const VersioningConfiguration = { Status: 'Enabled' } as const;
      await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
      for (const { key, bytes, place } of earlier) {
        await store(client, { Bucket, Key: key, Body: random.bytes(bytes.length) }, place);
      }
    });
    const keys = earlier.map(({ key }) => key);
    const before = await storedBytes(path, Bucket, keys);
    await served(path, async (_, client) => {
      for (const one of victims) {
        one.versionId = await store(client, { Bucket, Key: one.key, Body: one.bytes }, one.place);
        if (one.noncurrent) await store(client, { Bucket, Key: one.key, Body: Buffer.from('newer') }, 'inline');
      }
    });
    await damage(path, Bucket, { victims, earlier: before }, random);
    const wrong: string[] = [];
    const log = await served(path, async (server, client) => {
      for (const object of victims) await read(client, object, wrong);
      return server.log.join('\n');
    });
    const { complaints } = await verifyFolder(path);
    for (const { key, fault, place } of victims) {
      if (!log.includes(`${Bucket}/${key} `)) wrong.push(`${key} (${fault}, ${place}) is not in the log`);
      if (!complaints.some((complaint) => complaint.includes(`${Bucket}/${key} `))) {
        wrong.push(`${key} (${fault}, ${place}) is not found by verify`);
      }
    }
    tally.faults += victims.length;
    tally.noncurrent += victims.filter(({ noncurrent }) => noncurrent).length;
    expect(wrong).toEqual([]);
    await rm(path, { recursive: true, force: true });
  }

  it(
    `is never given for what was stored, and is named, in ${wanted} faults, seed ${seed}`,
    async () => {
      for (let number = 0; number * BATCH < wanted; number += 1) {
        await batch(number, Math.min(BATCH, wanted - number * BATCH));
      }
      report(
        `${tally.faults} faults, ${tally.noncurrent} of them in noncurrent versions (${faults.join(', ')}; ${places.join(', ')}), two answers each: ${tally.refused} refused, ` +
          `${tally.cut} cut short, ${tally.intact} ranges that the damage did not touch, no wrong byte; all in log and verify; seed ${seed}`,
      );
    },
    60_000 + wanted * 1_000,
  );
});
