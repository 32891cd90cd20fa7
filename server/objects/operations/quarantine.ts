import { commitOnce } from '../../store/batch.ts';
import { after as afterKey, decodeKey, within } from '../../store/keys.ts';
import type { Entry, RecordStore } from '../../store/record-store.ts';
import { openDigests } from '../encryption/digests.ts';
import type { ObjectContext } from '../context.ts';
import type { ObjectInfo } from '../object-layer.ts';
import { decodeObject, encodeObject } from '../records/object-record.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';

/** The reason why an object is not served. */
interface Damage {
  /** The time of the discovery in milliseconds since 1970. */
  readonly found: number;
  /** A description for the administrator. */
  readonly what: string;
}

export interface QuarantinedObject extends Damage {
  readonly bucket: string;
  readonly key: string;
}

interface Place {
  readonly bucket: string;
  readonly key: string;
}

/**
 * Quarantines an object: it is not served until it is overwritten, deleted, or found whole again. `entry` is the record with which the
 * damage was found. Returns false when the object was changed meanwhile, or is quarantined already.
 */
export async function quarantine(
  records: RecordStore,
  { bucket, key }: Place,
  entry: Entry,
  damage: Damage,
  random: (size: number) => Buffer,
): Promise<boolean> {
  const record = decodeObject(entry.value, bucket, key);
  if (record.damage !== undefined) return false;
  const outcome = await commitOnce(
    records,
    {
      expect: [{ kind: 'revision', key: entry.key, revision: entry.revision }],
      put: [
        { key: entry.key, value: encodeObject({ ...record, damage }) },
        { key: recordKeys.damage(bucket, key), value: encodeRecord(damage) },
      ],
    },
    random,
  );
  return outcome.kind === 'committed';
}

/** Releases an object that was found whole. Returns false when the object was changed meanwhile, or is not quarantined. */
export async function release(
  records: RecordStore,
  { bucket, key }: Place,
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
      delete: [recordKeys.damage(bucket, key)],
    },
    random,
  );
  return outcome.kind === 'committed';
}

/** Quarantines an object that a read found damaged. ETag and time identify the object that was read. */
export async function quarantineRead(
  context: Pick<ObjectContext, 'records' | 'random' | 'digests'>,
  read: Pick<ObjectInfo, 'bucket' | 'key' | 'etag' | 'lastModified'>,
  damage: Damage,
): Promise<boolean> {
  const { bucket, key } = read;
  const entry = await context.records.get(recordKeys.object(bucket, key));
  if (entry === undefined) return false;
  const record = decodeObject(entry.value, bucket, key);
  const { etag } = await openDigests(context, { bucket, id: record.id, part: 0 }, { etag: record.etag });
  if (etag !== read.etag || record.modified !== read.lastModified.getTime()) return false;
  return quarantine(context.records, { bucket, key }, entry, damage, context.random);
}

/** Yields the quarantined objects in the order of buckets and keys, after one of them. */
export async function* quarantined(
  records: RecordStore,
  after?: Place,
  limit?: number,
): AsyncGenerator<QuarantinedObject> {
  const range = within('d');
  const start = after === undefined ? range.start : afterKey(recordKeys.damage(after.bucket, after.key));
  for await (const item of records.scan({ ...range, start, ...(limit === undefined ? {} : { limit }) })) {
    if (item.kind !== 'entry') continue;
    const [, bucket, key] = decodeKey(item.key).map(String);
    yield { bucket: bucket ?? '', key: key ?? '', ...(decodeRecord(item.value, 'a damaged object') as Damage) };
  }
}
