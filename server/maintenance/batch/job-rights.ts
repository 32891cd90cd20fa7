import type { BatchDefinition, RotateDefinition } from './batch-definition.ts';
import type { BatchVersion } from './batch-remote.ts';
import { keyBelow, type ReplicateDefinition } from './replicate-definition.ts';

/** The caller who started a job. Their rights are looked up at each version, with the address and the client of the start. */
export interface JobAsker {
  readonly kind: 'root' | 'user' | 'temporary' | 'service-account';
  readonly accessKey: string;
  /** The condition keys of the request that started the job, without those of its time. */
  readonly conditions: Readonly<Record<string, readonly string[]>>;
}

/** A right of the asker, as `server/auth` decides it. */
export interface JobRight {
  /** Of several names one must be allowed and none denied. */
  readonly action: string | readonly string[];
  readonly alsoDeniedBy?: string;
  readonly resource: string;
  readonly conditions?: Readonly<Record<string, readonly string[]>>;
  readonly unknown?: { readonly below: boolean; readonly every?: true; readonly keys: readonly string[] };
}

/**
 * Decides a right of the asker as it is now. `gone`: the credentials with which the job was started count no more. `objectId`: the object
 * whose tags or ACL allow it.
 */
export type DecideForAsker = (
  asker: JobAsker,
  right: JobRight,
) => Promise<
  { readonly kind: 'allowed'; readonly objectId?: string | undefined } | { readonly kind: 'denied' | 'gone' }
>;

/** Rejects unless the asker has the rights now. Resolves with the id of the object to which the rights are bound, if they are. */
export type RequireOfAsker = (rights: readonly JobRight[]) => Promise<string | undefined>;

/** The condition keys of what an object brings along from the other server. */
const ofFetched = [
  's3:requestobjecttag/',
  's3:requestobjecttagkeys',
  's3:x-amz-storage-class',
  ...['mode', 'retain-until-date', 'remaining-retention-days', 'legal-hold'].map((what) => `s3:object-lock-${what}`),
  ...['', '-aws-kms-key-id'].map((of) => `s3:x-amz-server-side-encryption${of}`),
];

/**
 * Returns the rights that the start of a job takes, but for those to keys. A job that expires objects needs the right to set rules that
 * would expire them; one that replicates the rights to set up a replication, and those to all that it may read or write.
 */
export function rightsToStart(job: Exclude<BatchDefinition, RotateDefinition>): readonly JobRight[] {
  const { bucket } = job;
  if (job.type === 'expire') {
    return [
      { action: 's3:PutLifecycleConfiguration', resource: bucket },
      ...job.prefixes.map((prefix) => ({
        action: ['s3:DeleteObject', 's3:DeleteObjectVersion'],
        resource: `${bucket}/${prefix}`,
        unknown: { below: true, keys: ['s3:versionid'] },
      })),
    ];
  }
  const setUp = ['admin:SetBucketTarget', 's3:PutReplicationConfiguration'].map((action) => ({
    action,
    resource: bucket,
  }));
  if (job.direction === 'fetch') {
    const resource = `${bucket}/${keyBelow(job.targetPrefix, '')}`;
    return [...setUp, ...fetching.map((action) => everyOf(action, resource, true, ofFetched))];
  }
  return [
    ...setUp,
    ...job.prefixes.flatMap((prefix) => [
      ...(keepsVersions(job) ? [listing(bucket, prefix)] : []),
      ...[...currentReads, ...(keepsVersions(job) ? versionReads : [])].map((action) =>
        everyOf(action, `${bucket}/${prefix}`, true, ['s3:versionid']),
      ),
    ]),
  ];
}

const fetching = ['s3:PutObject', 's3:ReplicateObject', 's3:ReplicateDelete'];
const currentReads = ['s3:GetObject', 's3:GetObjectTagging'];
const versionReads = ['s3:GetObjectVersion', 's3:GetObjectVersionTagging'];

function everyOf(action: string, resource: string, below: boolean, keys: readonly string[]): JobRight {
  return { action, resource, unknown: { below, every: true, keys } };
}

/** An S3 gets the current versions alone. */
function keepsVersions({ remote }: ReplicateDefinition): boolean {
  return remote.type === 'minio';
}

function listing(bucket: string, prefix: string): JobRight {
  return { action: 's3:ListBucketVersions', resource: bucket, conditions: { 's3:prefix': [prefix] } };
}

/** Returns the rights to read a version with its tags, or to learn of a delete marker, and send it. */
export function rightsToSend(
  { bucket, prefixes }: ReplicateDefinition,
  { key, versionId, isLatest, deleteMarker }: BatchVersion,
): readonly JobRight[] {
  if (deleteMarker) return [listing(bucket, prefixes.find((prefix) => key.startsWith(prefix)) ?? '')];
  const resource = `${bucket}/${key}`;
  const conditions = { 's3:versionid': [versionId] };
  if (isLatest) {
    // As a request without a version. The tags that policies ask for are also those of this version, if another one has become the current one.
    return currentReads.flatMap((action) => [
      { action, resource },
      { action, resource, conditions },
    ]);
  }
  return currentReads.map((action, at) => ({
    action: versionReads[at] ?? action,
    alsoDeniedBy: action,
    resource,
    conditions,
  }));
}

/** Returns the rights to write a version that is fetched. */
export function rightsToFetch(
  { bucket, targetPrefix }: ReplicateDefinition,
  { key, deleteMarker }: BatchVersion,
): readonly JobRight[] {
  const resource = `${bucket}/${keyBelow(targetPrefix, key)}`;
  const actions = deleteMarker ? fetching.slice(2) : fetching.slice(0, 2);
  return actions.map((action) => everyOf(action, resource, false, ofFetched));
}

/** Returns the right to remove a version for good. A bucket without versions has one of each object. */
export function rightsToExpire(
  bucket: string,
  { key, versionId }: Pick<BatchVersion, 'key' | 'versionId'>,
  isVersioned: boolean,
): readonly JobRight[] {
  const conditions = { 's3:versionid': [versionId] };
  const [action, versionAction] = ['s3:DeleteObject', 's3:DeleteObjectVersion'];
  const resource = `${bucket}/${key}`;
  return [isVersioned ? { action: versionAction, alsoDeniedBy: action, resource, conditions } : { action, resource }];
}

/** The names of the right to rotate a key. */
export const rotateActions = ['admin:KMSRotateKey', 'kms:RotateKey'] as const;

/** Returns the rights to the new key and to the key that the job names; without one, to all. */
export function rightsToRotate({ keyName, fromKey }: RotateDefinition, defaultKey: string): readonly JobRight[] {
  return [keyName ?? defaultKey, fromKey ?? '*'].map((resource) => ({ action: rotateActions, resource }));
}
