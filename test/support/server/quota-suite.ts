import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminCall } from './admin-call.ts';
import { s3Client } from './s3-client.ts';
import type { RunningServer } from './start-server.ts';

const Bucket = 'limited';
const WRITERS = 64;
const SIZE = 10_000;
const MAX = 1_000_000;
let one: RunningServer;
let clients: readonly S3Client[];

async function used(): Promise<number> {
  const { value } = await adminCall(one.s3, one, 'GET', `/minio/admin/coffer/v1/bucket-quota?bucket=${Bucket}`);
  return (value as { readonly quota: { readonly used: number } }).quota.used;
}

function clientOf(index: number): S3Client {
  const client = clients[index % clients.length];
  if (client === undefined) throw new Error('there are clients');
  return client;
}

async function held(): Promise<number> {
  const { Contents = [] } = await clientOf(0).send(new ListObjectsV2Command({ Bucket }));
  return Contents.reduce((sum, { Size = 0 }) => sum + Size, 0);
}

/** Uploads in one part. An upload that fails is ended, since its part counts. */
async function upload(client: S3Client, Key: string): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  try {
    const part = { Bucket, Key, UploadId, PartNumber: 1 };
    const { ETag } = await client.send(new UploadPartCommand({ ...part, Body: 'x'.repeat(SIZE) }));
    const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] };
    await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
  } catch (error) {
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined);
    throw error;
  }
}

/** Puts objects until the quota refuses one; an upload now and then. */
async function fill(writer: number): Promise<void> {
  const client = clientOf(writer);
  for (let turn = 0; turn < 50; turn += 1) {
    const Key = `${writer}/${turn}`;
    try {
      if (turn % 5 === 4) await upload(client, Key);
      else await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x'.repeat(SIZE) }));
    } catch (error) {
      const { name } = error as Error;
      if (name === 'XMinioAdminBucketQuotaExceeded') return;
      // A busy machine answers so, and clients try again.
      expect(['SlowDown', 'ServiceUnavailable']).toContain(name);
    }
  }
}

/** A quota that many writers fill at once, through all servers of a deployment in turn. `start` returns one or more that are ready. */
export function describeQuota(
  name: string,
  start: () => Promise<readonly [RunningServer, ...RunningServer[]]>,
  stop: () => Promise<unknown>,
): void {
  describe(name, () => {
    beforeAll(async () => {
      const servers = await start();
      [one] = servers;
      clients = servers.map((server) => s3Client(server));
      await clients[0]?.send(new CreateBucketCommand({ Bucket }));
    }, 540_000);
    afterAll(stop);

    it(`is not exceeded by ${WRITERS} writers, and is full in the end`, async () => {
      const plain = JSON.stringify({ quota: MAX, quotatype: 'hard' });
      const answer = await adminCall(one.s3, one, 'PUT', `set-bucket-quota?bucket=${Bucket}`, Buffer.from(plain));
      expect(answer.status).toBe(200);
      const writers = { done: false };
      const highest = (async () => {
        let max = 0;
        while (!writers.done) max = Math.max(max, await used(), await held());
        return max;
      })();
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => fill(writer)));
      writers.done = true;
      expect(await highest).toBeLessThanOrEqual(MAX);
      expect([await used(), await held()]).toEqual([MAX, MAX]);
    }, 300_000);

    it('has space at once for what was deleted through another connection or server', async () => {
      const [{ Key } = {}] = (await clientOf(0).send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }))).Contents ?? [];
      const put = () => clientOf(1).send(new PutObjectCommand({ Bucket, Key: 'new', Body: 'x'.repeat(SIZE) }));
      await expect(put()).rejects.toMatchObject({ name: 'XMinioAdminBucketQuotaExceeded' });
      await clientOf(0).send(new DeleteObjectCommand({ Bucket, Key }));
      await put();
      expect(await used()).toBe(MAX);
    });
  });
}
