import { createHash } from 'node:crypto';

/** There are no accounts here; clients want twelve digits. */
export const accountId = '000000000000';

/**
 * The name under which clients ask for a provider with a role policy; the same as MinIO's, so that clients' settings stay.
 * The region is '' where none was set.
 */
export function roleArn(region: string, clientId: string): string {
  return `arn:minio:iam:${region}::role/${roleId(clientId)}`;
}

/** Whether this ARN names the role of this client, in whichever region: a store that gets a region keeps its clients. */
export function namesRoleOf(arn: string, clientId: string): boolean {
  return /^arn:minio:iam:[^:]*::role\/(.+)$/.exec(arn)?.[1] === roleId(clientId);
}

function roleId(clientId: string): string {
  return createHash('sha1').update(clientId).digest('base64url');
}
