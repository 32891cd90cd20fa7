import { commitOnce } from '../../store/commits.ts';
import { after as afterKey, decodeKey, within } from '../../store/keys.ts';
import type { Entry, RecordStore } from '../../store/record-store.ts';
import { openDigests } from '../encryption/digests.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ObjectInfo } from '../contract/object-layer.ts';
import { decodeObject, encodeObject } from '../records/object-record.ts';
import { decodeRecord, encodeRecord, orderOfPart, recordKeys } from '../records/record-format.ts';
import { objectRecordKey, type VersionPlace } from '../records/version-place.ts';
import { findVersion, NULL_VERSION } from '../versions/find-version.ts';

/** The reason why an object is not served. */
interface Damage {
  /** The time of the discovery in milliseconds since 1970. */
  readonly found: number;
  /** A description for the administrator. */
  readonly what: string;
}

export interface QuarantinedObject extends Damage, VersionPlace {
  /** The id of the version: that of a noncurrent one, or of a current one that is not the null version. */
  readonly versionId?: string;
}

/** The record `d` of a version. */
type DamageRecord = Damage & Pick<QuarantinedObject, 'versionId'>;

/**
 * Quarantines an object: it is not served until it is overwritten, deleted, or found whole again. `entry` is the record with which the
 * damage was found. Returns false when the object was changed meanwhile, or is quarantined already.
 */
export async function quarantine(
  records: RecordStore,
  { bucket, key, order }: VersionPlace,
  entry: Entry,
  damage: Damage,
  random: (size: number) => Buffer,
): Promise<boolean> {
  const record = decodeObject(entry.value, bucket, key);
  if (record.damage !== undefined) return false;
  const listed: DamageRecord = { ...damage, ...(record.versionId !== undefined && { versionId: record.versionId }) };
  const outcome = await commitOnce(
    records,
    {
      expect: [{ kind: 'revision', key: entry.key, revision: entry.revision }],
      put: [
        { key: entry.key, value: encodeObject({ ...record, damage }) },
        { key: recordKeys.damage(bucket, key, order), value: encodeRecord(listed) },
      ],
    },
    random,
  );
  return outcome.kind === 'committed';
}

/** Releases an object that was found whole. Returns false when the object was changed meanwhile, or is not quarantined. */
export async function release(
  records: RecordStore,
  { bucket, key, order }: VersionPlace,
  entry: Entry,
  random: (size: number) => Buffer,
): Promise<boolean> {
  const { damage, ...record } = decodeObject(entry.value, bucket, key);
  if (damage === undefined) return false;
  const outcome = await commitOnce(
    records,
    {
      expect: [{ kind: 'revision', key: entry.key, revision: entry.revision }],
      put: [{ key: entry.key, value: encodeObject(record) }],
      delete: [recordKeys.damage(bucket, key, order)],
    },
    random,
  );
  return outcome.kind === 'committed';
}

/** Quarantines a version that a read found damaged. ETag and time identify the object that was read. */
export async function quarantineRead(context: ReadContext, read: ReadVersion, damage: Damage): Promise<boolean> {
  const found = await placeOfRead(context, read);
  return found !== undefined && quarantine(context.records, found.place, found.entry, damage, context.random);
}

/** Releases a quarantined version that a read found whole. */
export async function releaseRead(context: ReadContext, read: ReadVersion): Promise<boolean> {
  const found = await placeOfRead(context, read);
  return found !== undefined && release(context.records, found.place, found.entry, context.random);
}

type ReadContext = Pick<ObjectContext, 'records' | 'random' | 'digests'>;
type ReadVersion = Pick<ObjectInfo, 'bucket' | 'key' | 'etag' | 'lastModified' | 'versionId'>;

/** Returns the place of the version that was read; undefined where it is gone. */
async function placeOfRead(
  context: ReadContext,
  read: ReadVersion,
): Promise<{ readonly place: VersionPlace; readonly entry: Entry } | undefined> {
  const { bucket, key, versionId } = read;
  // The version may have moved since the read.
  const named = versionId === undefined ? undefined : await findVersion(context, bucket, key, versionId);
  const places: VersionPlace[] = [{ bucket, key }];
  if (named?.order !== undefined) places.push({ bucket, key, order: named.order });
  const entries = await context.records.getAll(places.map((place) => objectRecordKey(place)));
  for (const [index, place] of places.entries()) {
    const entry = entries[index];
    if (entry === undefined) continue;
    const record = decodeObject(entry.value, bucket, key);
    if (record.deleteMarker === true || record.modified !== read.lastModified.getTime()) continue;
    const { etag } = await openDigests(context, { bucket, id: record.id, part: 0 }, { etag: record.etag });
    if (etag === read.etag) return { place, entry };
  }
  return undefined;
}

/** Yields the quarantined objects in the order of buckets, keys and orders, after one of them. */
export async function* quarantined(
  records: RecordStore,
  after?: VersionPlace,
  limit?: number,
): AsyncGenerator<QuarantinedObject> {
  const range = within('d');
  const start = after === undefined ? range.start : afterKey(recordKeys.damage(after.bucket, after.key, after.order));
  for await (const item of records.scan({ ...range, start, ...(limit === undefined ? {} : { limit }) })) {
    if (item.kind !== 'entry') continue;
    const [, bucket, key, order] = decodeKey(item.key);
    const damage = decodeRecord(item.value, 'a damaged object') as DamageRecord;
    const noncurrent = order && { order, versionId: damage.versionId ?? orderOfPart(order) ?? NULL_VERSION };
    yield { bucket: String(bucket), key: String(key), ...damage, ...noncurrent };
  }
}
