import { S3Client } from '@aws-sdk/client-s3';
import type { RunningServer } from '../support/server/start-server.ts';

/** A plain client that sends each request once: whether a request took effect must not be blurred by its repetition. */
export function clientOf(server: Pick<RunningServer, 's3' | 'accessKey' | 'secretKey'>): S3Client {
  return new S3Client({
    endpoint: server.s3,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey },
    maxAttempts: 1,
  });
}
