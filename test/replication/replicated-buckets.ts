import {
  CreateBucketCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

/** A server that takes part in replication: Coffer or MinIO. */
export interface Side {
  /** The URL of its S3 API. */
  readonly s3: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export function sideOf({ s3, accessKey, secretKey }: ServerAccess): Side {
  return { s3, accessKey, secretKey };
}

export async function versionedBucket(client: S3Client, Bucket: string, objectLock = false): Promise<void> {
  await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: objectLock }));
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
}

/** A remote target as clients send it. */
export function targetOf(to: Side, targetbucket: string) {
  return {
    endpoint: new URL(to.s3).host,
    credentials: { accessKey: to.accessKey, secretKey: to.secretKey },
    targetbucket,
    secure: to.s3.startsWith('https:'),
    type: 'replication',
    path: 'on',
    api: 's3v4',
    region: '',
    replicationSync: false,
    healthCheckDuration: 1e9,
    disableProxy: false,
  };
}

/** Adds the bucket of another side as the remote target of the bucket of the same name, and resolves with the ARN. */
async function setTarget(from: Side, bucket: string, to: Side): Promise<string> {
  const path = `set-remote-target?bucket=${bucket}`;
  const { status, value } = await adminCall(from.s3, from, 'PUT', path, targetOf(to, bucket));
  expect({ status, value }).toEqual({ status: 200, value: expect.stringMatching(/^arn:minio:replication:/) as string });
  return value as string;
}

const on = '<Status>Enabled</Status>';

/** A rule that replicates everything. */
export function everythingTo(arn: string): string {
  return `<ReplicationConfiguration><Role></Role><Rule><ID>all</ID>${on}<Priority>1</Priority><DeleteMarkerReplication>${on}</DeleteMarkerReplication><DeleteReplication>${on}</DeleteReplication><Destination><Bucket>${arn}</Bucket></Destination><Filter><Prefix></Prefix></Filter><SourceSelectionCriteria><ReplicaModifications>${on}</ReplicaModifications></SourceSelectionCriteria><ExistingObjectReplication>${on}</ExistingObjectReplication></Rule></ReplicationConfiguration>`;
}

/** Replicates everything of a bucket to the bucket of the same name, and resolves with the ARN of the target. */
export async function replicate(from: Side, bucket: string, to: Side): Promise<string> {
  const arn = await setTarget(from, bucket, to);
  const { status } = await adminCall(from.s3, from, 'PUT', `/${bucket}?replication=`, Buffer.from(everythingTo(arn)));
  expect(status).toBe(200);
  return arn;
}

/** All versions of a bucket in their order, as two sides must have them. MinIO writes ids as UUIDs, and ETags of its own for nothing. */
export async function versionsOf(client: S3Client, Bucket: string): Promise<readonly string[]> {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
  const all = [
    ...Versions.map((version) => ({ ...version, what: `${version.ETag} ${version.Size}` })),
    ...DeleteMarkers.map((version) => ({ ...version, what: 'marker' })),
  ];
  return all
    .toSorted((x, y) => compare(x.Key, y.Key) || Number(y.LastModified) - Number(x.LastModified))
    .map(({ Key, VersionId = '', LastModified, IsLatest, what }) =>
      [Key, VersionId.replaceAll('-', ''), LastModified?.toISOString(), IsLatest === true, what].join(' '),
    );
}

function compare(x = '', y = ''): number {
  return x < y ? -1 : Number(x > y);
}
