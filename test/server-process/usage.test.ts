import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

const MIB = 1024 * 1024;
let server: RunningServer;
let s3: ReturnType<typeof s3Client>;

beforeAll(async () => {
  // Only when it is asked for: what is expected below was counted after it was asked.
  const env = { SVC_THREADS: '2', SVC_SCANNER_CYCLE: '0s', SVC_PROMETHEUS_AUTH_TYPE: 'public' };
  server = await startServer({ env });
  await untilReady(server);
  s3 = s3Client(server);
});
afterAll(() => server?.stop());

const root = { accessKey: 'root', secretKey: 'root-password' };
const admin = async (method: string, path: string) => (await adminCall(server.s3, root, method, path)).value;
const usage = '/minio/admin/coffer/v1/usage';
const countNow = () => admin('POST', usage);
const put = (Bucket: string, Key: string, size: number) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(size) }));

async function upload(Key: string, sizes: readonly number[], end: 'complete' | 'abort' | 'leave'): Promise<void> {
  const at = { Bucket: 'uploads', Key };
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(at));
  const Parts = [];
  for (const [index, size] of sizes.entries()) {
    const PartNumber = index + 1;
    const part = { ...at, UploadId, PartNumber, Body: Buffer.alloc(size) };
    Parts.push({ PartNumber, ETag: (await s3.send(new UploadPartCommand(part))).ETag });
  }
  if (end === 'abort') await s3.send(new AbortMultipartUploadCommand({ ...at, UploadId }));
  if (end !== 'complete') return;
  await s3.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
}

async function metrics(group: 'bucket' | 'cluster'): Promise<readonly string[]> {
  const answer = await fetch(`${server.s3}/minio/v2/metrics/${group}`, { headers: { connection: 'close' } });
  return (await answer.text()).split('\n').map((line) => line.replace(/,?server="[^"]*"/, '').replace('{}', ''));
}

describe('the usage of a running server', () => {
  it('is not known before it was counted', async () => {
    expect(await admin('GET', usage)).toEqual({ usage: null });
    expect((await metrics('cluster')).join('\n')).not.toContain('minio_cluster_usage');
  });

  it('is exact after objects were written, replaced, copied and deleted', async () => {
    for (const Bucket of ['plain', 'uploads', 'empty', 'gone']) await s3.send(new CreateBucketCommand({ Bucket }));
    for (let at = 0; at < 30; at += 1) await put('plain', `small/${at}`, 100);
    await put('plain', 'replaced', 10_000);
    await put('plain', 'replaced', 2 * MIB);
    await put('plain', 'deleted', 5_000);
    await s3.send(new DeleteObjectCommand({ Bucket: 'plain', Key: 'deleted' }));
    await s3.send(new CopyObjectCommand({ Bucket: 'plain', Key: 'copy', CopySource: 'plain/replaced' }));
    await put('gone', 'x', 5);
    await s3.send(new DeleteObjectCommand({ Bucket: 'gone', Key: 'x' }));
    await s3.send(new DeleteBucketCommand({ Bucket: 'gone' }));
    await upload('whole', [5 * MIB, 1_000], 'complete');
    await upload('aborted', [5 * MIB], 'abort');
    await upload('left', [5 * MIB, 3_000], 'leave');
    const [plain, uploads] = [30 * 100 + 4 * MIB, 5 * MIB + 1_000];
    expect(await countNow()).toMatchObject({
      usage: {
        objects: 33,
        bytes: plain + uploads,
        unreadable: 0,
        buckets: [
          { bucket: 'empty', objects: 0, bytes: 0 },
          { bucket: 'plain', objects: 32, bytes: plain, uploads: 0 },
          { bucket: 'uploads', objects: 1, bytes: uploads, uploads: 1, uploadBytes: 5 * MIB + 3_000 },
        ],
      },
    });
    expect(await admin('GET', 'datausageinfo')).toMatchObject({
      objectsCount: 33,
      objectsTotalSize: plain + uploads,
      bucketsUsageInfo: {
        plain: { size: plain, objectsSizesHistogram: { LESS_THAN_1024_B: 30, BETWEEN_1_MB_AND_10_MB: 2 } },
      },
    });
  });

  it('is what every thread shows, wherever it is asked for', async () => {
    const bytes = 30 * 100 + 4 * MIB + 5 * MIB + 1_000;
    for (let ask = 0; ask < 4; ask += 1) {
      expect(await admin('GET', 'info')).toMatchObject({
        buckets: { count: 3 },
        objects: { count: 33 },
        usage: { size: bytes },
      });
      expect(await metrics('cluster')).toContain(`minio_cluster_usage_total_bytes ${bytes}`);
      expect(await metrics('bucket')).toContain('minio_bucket_usage_object_total{bucket="plain"} 32');
    }
    expect(await admin('GET', 'accountinfo')).toMatchObject({
      Buckets: [{ name: 'empty', size: 0 }, { name: 'plain', objects: 32 }, { name: 'uploads' }],
    });
  });

  it('is counted anew for everybody who asks', async () => {
    await put('empty', 'no-more', 7);
    expect(await Promise.all([countNow(), countNow()])).toMatchObject([
      { usage: { objects: 34 } },
      { usage: { objects: 34 } },
    ]);
    await s3.send(new DeleteObjectCommand({ Bucket: 'empty', Key: 'no-more' }));
    expect(await countNow()).toMatchObject({ usage: { objects: 33 } });
  });
});
