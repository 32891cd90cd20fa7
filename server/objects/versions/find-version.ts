import type { Entry, Key } from '../../store/record-store.ts';
import type { VersionOrder } from '../records/record-format.ts';
import type { StoredObject, ObjectRecord } from '../records/object-record.ts';
import type { ObjectContext } from '../context/context.ts';
import { decodeVersionIndex, recordKeys, versionOrder } from '../records/record-format.ts';
import { isOrder } from '../records/version-order.ts';
import { storedObject } from '../records/object-record.ts';
import { getBucket } from '../records/bucket-record.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isForeignVersionId, isVersionId } from '../../../protocol/s3/names.ts';

/** The version id of the null version, as clients see it. */
export const NULL_VERSION = 'null';

/** A version, and its place: `current` under `o`, `marker` under `l`, `noncurrent` under `v`. */
export interface FoundVersion {
  readonly at: 'current' | 'marker' | 'noncurrent';
  readonly order: VersionOrder | undefined;
  readonly stored: StoredObject;
}

/**
 * Reads a version by the id that a client sent. Returns undefined where there is none. Throws `InvalidArgument` for a text that has not the
 * form of an id that is made here, and is not the id of a version of the key.
 */
export async function findVersion(
  context: Pick<ObjectContext, 'records'>,
  bucket: string,
  key: string,
  versionId: string,
): Promise<FoundVersion | undefined> {
  const found = await lookUpVersion(context, bucket, key, versionId);
  if (found !== undefined || isVersionId(versionId)) return found;
  throw new S3Error('InvalidArgument', 'Invalid version id specified', {
    details: { ArgumentName: 'versionId', ArgumentValue: versionId.slice(0, 100) },
  });
}

/**
 * Reads a version by its id. An id that was made here is the order of its version, and the current version is read anyway: one round trip. A
 * noncurrent version from elsewhere takes two, since its index record says its order.
 */
export async function lookUpVersion(
  { records }: Pick<ObjectContext, 'records'>,
  bucket: string,
  key: string,
  versionId: string,
): Promise<FoundVersion | undefined> {
  const isNull = versionId === NULL_VERSION;
  const indexKey =
    !isNull && isForeignVersionId(versionId) ? recordKeys.versionIndex(bucket, key, versionId) : undefined;
  let order = isNull ? versionOrder(undefined) : isOrder(versionId) ? versionOrder(versionId) : undefined;
  if (indexKey === undefined && order === undefined) return undefined;
  const [objectKey, markerKey] = [recordKeys.object(bucket, key), recordKeys.marker(bucket, key)];
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const noncurrentKey = order && recordKeys.version(bucket, key, order);
    const keys = [objectKey, markerKey, noncurrentKey, indexKey].filter((one) => one !== undefined);
    const entries = await records.getAll(keys);
    const entryAt = (one: Key | undefined) => (one === undefined ? undefined : entries[keys.indexOf(one)]);
    const candidates = [
      { at: 'current', order: undefined, entry: entryAt(objectKey) },
      { at: 'marker', order: undefined, entry: entryAt(markerKey) },
      { at: 'noncurrent', order, entry: entryAt(noncurrentKey) },
    ] as const;
    for (const { at, order: place, entry } of candidates) {
      const stored = storedObject(entry, bucket, key);
      // The version at the order that an id names may have an id of its own.
      if (stored !== undefined && shownVersionId(stored.record) === versionId) return { at, order: place, stored };
    }
    const indexed = indexedOrder(entryAt(indexKey), `version ${versionId} of ${bucket}/${key}`, versionId);
    if (indexed === undefined) return undefined;
    order = indexed;
  }
  return undefined;
}

/** Between two reads a version may have been removed, and another one with its id may have come. */
const MAX_READS = 4;

function indexedOrder(entry: Entry | undefined, what: string, versionId: string): VersionOrder | undefined {
  const index = entry && decodeVersionIndex(entry.value, what);
  return index?.versionId === versionId ? versionOrder(index.order) : undefined;
}

/** Reads a named version. Throws `NoSuchVersion`, `MethodNotAllowed` for a delete marker, `NoSuchBucket` and `InvalidArgument`. */
export async function readNamedVersion(
  context: ObjectContext,
  bucket: string,
  key: string,
  versionId: string,
): Promise<FoundVersion> {
  const found = await findVersion(context, bucket, key, versionId);
  if (found === undefined) {
    await getBucket(context.records, bucket);
    throw new S3Error('NoSuchVersion', undefined, { details: { Key: key, VersionId: versionId } });
  }
  const { record } = found.stored;
  if (record.deleteMarker !== true) return found;
  throw new S3Error('MethodNotAllowed', undefined, {
    details: { ResourceType: 'DeleteMarker' },
    headers: {
      allow: 'DELETE',
      'x-amz-delete-marker': 'true',
      'x-amz-version-id': versionId,
      'last-modified': new Date(record.modified).toUTCString(),
      ...(record.replication && { 'x-amz-replication-status': record.replication.status }),
    },
  });
}

/** Refuses an object other than the one whose ACL or tags allowed the request; '' means that it is absent. Throws `SlowDown`. */
export function checkIdentity(object: Pick<ObjectRecord, 'id'> | undefined, onlyId: string | undefined): void {
  if (onlyId !== undefined && onlyId !== (object?.id ?? '')) throw replacedMeanwhile();
}

/** Clients repeat the request, and it is decided with the ACL and the tags of the new object. */
function replacedMeanwhile(): S3Error {
  return new S3Error('SlowDown', 'The object was replaced after the request was authorized; try again.');
}

/** Reads the record of the current version, or of a named one. Throws `NoSuchKey` for an absent object, and as `readNamedVersion`. */
export async function readVersionRecord(
  context: ObjectContext,
  bucket: string,
  key: string,
  versionId: string | undefined,
): Promise<Pick<FoundVersion, 'order' | 'stored'>> {
  if (versionId !== undefined) return readNamedVersion(context, bucket, key, versionId);
  const stored = storedObject(await context.records.get(recordKeys.object(bucket, key)), bucket, key);
  if (stored !== undefined) return { order: undefined, stored };
  const { versioning } = (await getBucket(context.records, bucket)).record;
  throw await noSuchKey(context, bucket, key, versioning !== undefined);
}

/** Returns the error for an absent object. Where the current version is a delete marker, its headers say so. */
export async function noSuchKey(
  context: Pick<ObjectContext, 'records'>,
  bucket: string,
  key: string,
  hasVersions: boolean,
): Promise<S3Error> {
  const entry = hasVersions ? await context.records.get(recordKeys.marker(bucket, key)) : undefined;
  const marker = storedObject(entry, bucket, key);
  const headers = marker && {
    'x-amz-delete-marker': 'true',
    'x-amz-version-id': shownVersionId(marker.record),
  };
  return new S3Error('NoSuchKey', undefined, { details: { Key: key }, ...(headers && { headers }) });
}

/** Returns the version id that clients see. */
export function shownVersionId({ versionId }: Pick<ObjectRecord, 'versionId'>): string {
  return versionId ?? NULL_VERSION;
}
