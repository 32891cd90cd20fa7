import { matchesStars } from '../../../protocol/text/star-pattern.ts';
import type { BucketRecord, StoredBucket } from '../records/bucket-record.ts';
import type { StoredObject } from '../records/object-record.ts';
import type { ObjectContext } from '../context/context.ts';
import type { Key, Entry } from '../../store/record-store.ts';
import { recordKeys, versionOrder } from '../records/record-format.ts';
import { noSuchBucket } from '../records/bucket-record.ts';
import { storedObject } from '../records/object-record.ts';
import { checkIdentity } from './find-version.ts';
import { orderAt } from '../records/version-order.ts';
import type { VersionFields } from '../records/version-place.ts';

/** The history that a bucket keeps of a key: none, a version for each write, or one null version that each write replaces. */
type History = 'none' | 'versions' | 'null-version';

function historyOf({ versioning }: BucketRecord, key: string): History {
  if (versioning === undefined) return 'none';
  const { status, excludedPrefixes, excludeFolders } = versioning;
  if (status === 'Suspended' || (excludeFolders === true && key.endsWith('/'))) return 'null-version';
  return excludedPrefixes?.some((prefix) => matchesStars(`${prefix}*`, key)) === true ? 'null-version' : 'versions';
}

/** The bucket and the versions that a write of a key looks at. The commit expects all of them. */
export interface Place {
  readonly bucket: string;
  readonly key: string;
  readonly stored: StoredBucket;
  readonly history: History;
  /** The current version, if it is an object. */
  readonly current: StoredObject | undefined;
  /** The current version, if it is a delete marker. Read where the bucket has versions. */
  readonly marker: StoredObject | undefined;
  /** The noncurrent null version. Read where the write replaces it. */
  readonly nullVersion: StoredObject | undefined;
}

/**
 * Reads a place in one round trip, or in two where this thread does not know yet which history the bucket keeps. `also` is the key of a
 * further record of the same moment. Throws `NoSuchBucket`.
 */
export async function readPlace(
  context: ObjectContext,
  bucket: string,
  key: string,
  also?: Key,
): Promise<Place & { readonly also: Entry | undefined }> {
  const known = context.buckets.known(bucket);
  const expected = known === undefined ? 'none' : historyOf(known.record, key);
  const keys = [recordKeys.bucket(bucket), recordKeys.object(bucket, key), ...keysOf(expected, bucket, key)];
  if (also !== undefined) keys.push(also);
  const read = await context.records.getAll(keys);
  const [bucketEntry, entry] = read;
  if (bucketEntry === undefined) throw noSuchBucket(bucket);
  const stored = context.buckets.decode(bucketEntry, bucket);
  const history = historyOf(stored.record, key);
  const [marker, nullVersion] =
    history === 'none'
      ? []
      : history === expected
        ? read.slice(2)
        : await context.records.getAll(keysOf(history, bucket, key));
  return {
    bucket,
    key,
    stored,
    history,
    current: storedObject(entry, bucket, key),
    marker: storedObject(marker, bucket, key),
    nullVersion: history === 'null-version' ? storedObject(nullVersion, bucket, key) : undefined,
    also: also === undefined ? undefined : read.at(-1),
  };
}

/** Returns the keys that a write reads in addition to the current object. */
function keysOf(history: History, bucket: string, key: string): readonly Key[] {
  if (history === 'none') return noKeys;
  const marker = recordKeys.marker(bucket, key);
  return history === 'versions' ? [marker] : [marker, recordKeys.version(bucket, key, versionOrder(undefined))];
}

const noKeys: readonly Key[] = [];

/** The version that a write creates, as in its record. Times of versions made here grow strictly along those of a key. */
export type NewVersion = VersionFields;

export function newVersion(context: ObjectContext, { history, current, marker }: Place): NewVersion {
  const now = context.clock();
  if (history === 'none') return { modified: now };
  const modified = Math.max(now, ((current ?? marker)?.record.modified ?? 0) + 1);
  if (history === 'null-version') return { modified };
  return { modified, versionId: orderAt(modified, context.random(7)) };
}

/** Returns the versions that a write of this place removes. Any other current version becomes noncurrent. */
export function removedBy({ history, current, nullVersion }: Place): readonly StoredObject[] {
  const replaced = history === 'none' || (history === 'null-version' && current?.record.versionId === undefined);
  return [replaced ? current : undefined, nullVersion].filter((version) => version !== undefined);
}

/** Returns the bytes of the versions that a write of this place removes. */
export function removedBytes(place: Place): number {
  return removedBy(place).reduce((sum, { record }) => sum + record.size, 0);
}

/** Checks the current version as `checkIdentity` does. */
export function checkCurrent({ current }: Pick<Place, 'current'>, onlyId: string | undefined): void {
  if (onlyId !== undefined) checkIdentity(current?.record, onlyId);
}
