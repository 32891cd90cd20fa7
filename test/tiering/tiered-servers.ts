import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { adminCall } from '../support/server/admin-call.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

/** Sends a call of the admin API as root, with a body under its secret key. */
export function asRoot(server: ServerAccess, method: string, call: string, body?: object) {
  return adminCall(server.s3, server, method, call, body);
}

/** The configuration of a tier that is a bucket of another server, as `mc ilm tier add minio` sends it. */
export function tierOn(other: ServerAccess, Bucket: string, Name = 'COLD', more: object = {}) {
  const { accessKey: AccessKey, secretKey: SecretKey, s3 } = other;
  return {
    Version: 'v1',
    Type: 'minio',
    Name,
    MinIO: { Endpoint: s3, AccessKey, SecretKey, Bucket, Prefix: 'bodies', ...more },
  };
}

export async function classOf(client: S3Client, Bucket: string, Key: string): Promise<string | undefined> {
  return (await client.send(new HeadObjectCommand({ Bucket, Key }))).StorageClass;
}
