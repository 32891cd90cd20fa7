import { createHash } from 'node:crypto';

/** How a client picks a provider with a role policy; the same as MinIO's, so that clients' settings stay. */
export function roleArn(region: string, clientId: string): string {
  return `arn:minio:iam:${region}:role/${createHash('sha1').update(clientId).digest('base64url')}`;
}
