import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { ServerAccess } from './start-server.ts';

/** An AWS client for a test server, as its root user unless told otherwise. It does not retry: a test wants the first answer. */
export function s3Client(server: ServerAccess, more: Partial<S3ClientConfig> = {}): S3Client {
  return new S3Client({
    endpoint: server.s3,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey },
    maxAttempts: 1,
    ...more,
  });
}

/** The error that a call ends with: its code and status. */
export async function refusal(call: Promise<unknown>): Promise<{ code: string; status: number | undefined }> {
  try {
    await call;
  } catch (error) {
    const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    return { code: name, status: $metadata?.httpStatusCode };
  }
  throw new Error('the call succeeded');
}
