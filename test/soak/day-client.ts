import {
  NoSuchKey,
  type S3Client,
  S3ServiceException,
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '../support/seeded-random.ts';
import { type Content, contentOf } from '../crash/expected.ts';
import { backoffMs } from '../../platform/async/backoff.ts';

/** What stood in the way of requests, each of which was sent again. */
export class Obstacles {
  /** 503 answers by their code. */
  readonly answered = new Map<string, number>();
  /** Requests without an answer, or with half of one: to a server that was restarted. */
  unanswered = 0;
  /** Answers that nothing explains. */
  readonly unexpected: string[] = [];
  longestMs = 0;
}

/** Nothing that is restarted here takes so long. */
const PATIENCE = 90_000;

/** Sends to one replica, and where that one cannot answer now to the next, as a load balancer does, until it is answered. */
async function patiently<T>(
  replicas: readonly S3Client[],
  first: number,
  obstacles: Obstacles,
  send: (s3: S3Client) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const s3 = replicas[(first + attempt) % replicas.length];
    if (s3 === undefined) throw new Error('there is no replica');
    try {
      const result = await send(s3);
      obstacles.longestMs = Math.max(obstacles.longestMs, performance.now() - began);
      return result;
    } catch (error) {
      if (!heals(error, obstacles)) throw error;
      if (performance.now() - began > PATIENCE) throw new Error(`not answered in ${PATIENCE} ms`, { cause: error });
    }
    await sleep(backoffMs(attempt + 1, { firstMs: 50, maxMs: 1_000, jitter: 0 }));
  }
}

/** Whether a retry heals it. */
function heals(error: unknown, obstacles: Obstacles): boolean {
  if (error instanceof NoSuchKey) return false;
  if (!(error instanceof S3ServiceException) || error.$response === undefined) {
    obstacles.unanswered += 1;
    return true;
  }
  const status = error.$metadata.httpStatusCode;
  // Some operations begin their 200 before they know how they end.
  if (status === 503 || (status === 200 && ['ServiceUnavailable', 'SlowDown'].includes(error.name))) {
    obstacles.answered.set(error.name, (obstacles.answered.get(error.name) ?? 0) + 1);
    return true;
  }
  if (obstacles.unexpected.length < 20) obstacles.unexpected.push(`${status} ${error.name}: ${error.message}`);
  return (status ?? 0) >= 500;
}

export interface DayClient {
  readonly name: string;
  readonly bucket: string;
  readonly replicas: readonly S3Client[];
  readonly random: SeededRandom;
  readonly obstacles: Obstacles;
  /** What each of its keys holds: every answer is waited for, so nothing is ever in doubt. */
  readonly holds: Map<string, Content>;
  /** Reads that showed something else. */
  readonly wrong: string[];
}

const KEYS = 20;
const PART_BYTES = 5 * 1024 * 1024;

/** One step of the mixed load on the client's own keys, by any replica. */
export async function step(client: DayClient): Promise<void> {
  const { random, holds } = client;
  const key = `${client.name}/${random.between(1, KEYS)}`;
  const choice = random.between(1, 1_000);
  if (choice <= 450) return look(client, key);
  if (choice <= 780) return put(client, key, random.bytes(random.between(0, 16_000)));
  if (choice <= 880) return put(client, key, random.bytes(random.between(131_073, 400_000)));
  if (choice <= 995) {
    await sent(client, (s3) => s3.send(new DeleteObjectCommand({ Bucket: client.bucket, Key: key })));
    holds.set(key, undefined);
    return undefined;
  }
  return uploadInParts(client, key);
}

/** Compares what a key shows with what was answered. */
export async function look(client: DayClient, key: string): Promise<void> {
  const { bucket, holds, wrong } = client;
  const shown = await sent(client, async (s3) => {
    try {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      return contentOf((await Body?.transformToByteArray()) ?? new Uint8Array());
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  });
  if (shown !== holds.get(key))
    wrong.push(`${key} is ${shown ?? 'absent'}, where ${holds.get(key) ?? 'absent'} was answered`);
}

async function put(client: DayClient, key: string, bytes: Buffer): Promise<void> {
  await sent(client, (s3) => s3.send(new PutObjectCommand({ Bucket: client.bucket, Key: key, Body: bytes })));
  client.holds.set(key, contentOf(bytes));
}

async function uploadInParts(client: DayClient, key: string): Promise<void> {
  const { random, bucket } = client;
  const target = { Bucket: bucket, Key: key };
  const parts = [Buffer.alloc(PART_BYTES, random.bytes(1_021)), random.bytes(random.between(1, 200_000))];
  const { UploadId } = await sent(client, (s3) => s3.send(new CreateMultipartUploadCommand(target)));
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  for (const [index, Body] of parts.entries()) {
    const PartNumber = index + 1;
    const { ETag } = await sent(client, (s3) =>
      s3.send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body })),
    );
    Parts.push({ PartNumber, ETag });
  }
  if (random.between(1, 4) === 1) {
    await once(client, (s3) => s3.send(new AbortMultipartUploadCommand({ ...target, UploadId })));
    return;
  }
  await once(client, (s3) =>
    s3.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } })),
  );
  client.holds.set(key, contentOf(Buffer.concat(parts)));
}

/** What ends an upload finds none when it is sent again after an answer that was lost: it is compared by the next look. */
function once(client: DayClient, send: (s3: S3Client) => Promise<unknown>): Promise<unknown> {
  let sentBefore = false;
  return sent(client, async (s3) => {
    try {
      return await send(s3);
    } catch (error) {
      if (sentBefore && error instanceof Error && error.name === 'NoSuchUpload') return undefined;
      sentBefore = true;
      throw error;
    }
  });
}

function sent<T>({ replicas, random, obstacles }: DayClient, send: (s3: S3Client) => Promise<T>): Promise<T> {
  return patiently(replicas, random.between(0, replicas.length - 1), obstacles, send);
}
