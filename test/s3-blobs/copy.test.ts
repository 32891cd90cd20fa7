import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, it } from 'vitest';
import { type RunningMinio, startMinio } from '../support/server/start-minio.ts';
import { expectRoundTrip } from '../store-tool/run-store-tool.ts';

let minio: RunningMinio;
beforeAll(async () => {
  minio = await startMinio();
  const credentials = { accessKeyId: minio.accessKey, secretAccessKey: minio.secretKey };
  const s3 = new S3Client({ endpoint: minio.url, region: 'us-east-1', forcePathStyle: true, credentials });
  await s3.send(new CreateBucketCommand({ Bucket: 'blobs' }));
  s3.destroy();
});
afterAll(() => minio.stop());

it('copies a data folder to blobs in another S3, and back', { timeout: 360_000 }, async () => {
  await expectRoundTrip(
    [
      'SVC_STORE_RECORDS=lmdb:$FOLDER',
      'SVC_STORE_BLOBS=s3://blobs/coffer',
      `SVC_STORE_BLOBS_S3_ENDPOINT=${minio.url}`,
      `SVC_STORE_BLOBS_S3_ACCESS_KEY=${minio.accessKey}`,
      `SVC_STORE_BLOBS_S3_SECRET_KEY=${minio.secretKey}`,
    ],
    { shared: false },
  );
});
