import { decodeCanaries } from '../../encryption/key-canaries.ts';
import { decodeRecord, decodeVersionIndex, recordKeys, versionOrder } from '../../objects/records/record-format.ts';
import { decodeObject, foreignVersionId } from '../../objects/records/object-record.ts';
import { isBlobId } from '../../store/blob-store.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Key, RecordStore } from '../../store/record-store.ts';
import type { VerifyContext } from './check-object.ts';
import { type Issue, shownKey } from './issue.ts';
import { entries, placeText } from './object-records.ts';
import { decodeBucket } from '../../objects/records/bucket-record.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { StoreError } from '../../store/store-error.ts';
import { objectRecordKey } from '../../objects/records/version-place.ts';

/** Checks that bucket, damage, leftover, removal and tombstone records can be read and do not contradict other records. */
export async function* checkRecords({ records, signal }: VerifyContext): AsyncGenerator<Issue> {
  for (const kind of ['b', 'd', 'q', 'x', 't']) {
    for await (const { key, value } of entries(records, within(kind))) {
      signal?.throwIfAborted();
      const record = shownKey(key);
      try {
        const decoded = (kind === 'b' ? decodeBucket(value, record) : decodeRecord(value, record)) as object;
        if (!isOfKind(kind, decoded)) throw new StoreError('unreadable-record', `the record ${record} is not complete`);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        // A record that was removed meanwhile could not be read either: then there is nothing to report.
        if ((await records.get(key)) !== undefined) yield { kind: 'unreadable-record', record, message: error.message };
        continue;
      }
      const contradiction = await contradictionOf(records, kind, key);
      if (contradiction !== undefined) yield { kind: 'stray-record', record, message: contradiction };
    }
  }
}

/** Checks that the canaries of keys can be read: without them a server seals nothing under their key. */
export async function* checkCanaries({ records, signal }: VerifyContext): AsyncGenerator<Issue> {
  for await (const { key, value } of entries(records, within('k', 'canaries'))) {
    signal?.throwIfAborted();
    try {
      decodeCanaries(value, String(decodeKey(key)[2]));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      if ((await records.get(key)) === undefined) continue;
      yield { kind: 'unreadable-record', record: shownKey(key), message: error.message };
    }
  }
}

/** Checks that each index record leads to a version that has its id. */
export async function* checkVersionIndex({ records, signal }: VerifyContext): AsyncGenerator<Issue> {
  for await (const { key, value } of entries(records, within('w'))) {
    signal?.throwIfAborted();
    const [, bucket, name] = decodeKey(key).map(String);
    const record = shownKey(key);
    if (bucket === undefined || name === undefined) continue;
    let index;
    try {
      index = decodeVersionIndex(value, record);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      if ((await records.get(key)) !== undefined) yield { kind: 'unreadable-record', record, message: error.message };
      continue;
    }
    // One read of all: a version moves between these places, and goes together with its index record.
    const [now, ...versions] = await records.getAll([
      key,
      recordKeys.object(bucket, name),
      recordKeys.marker(bucket, name),
      recordKeys.version(bucket, name, versionOrder(index.order)),
    ]);
    if (now === undefined || versions.some((entry) => entry && hasId(entry.value, index.versionId))) continue;
    yield {
      kind: 'stray-record',
      record,
      message: `the record leads to the version ${index.versionId} of ${bucket}/${name}, which is gone`,
    };
  }
}

/** Another check reports a record that cannot be read. */
function hasId(value: Buffer, versionId: string): boolean {
  try {
    return foreignVersionId(value) === versionId;
  } catch (error) {
    if (isUnreadable(error)) return true;
    throw error;
  }
}

/** Yields block sums whose blob is gone: nothing removes them any more. */
export async function* unreferencedBlockSums({ records, signal }: VerifyContext): AsyncGenerator<Issue> {
  for await (const { key } of entries(records, within('c'))) {
    signal?.throwIfAborted();
    const blob = String(decodeKey(key)[1]);
    const owners = isBlobId(blob) ? [recordKeys.owner(blob), recordKeys.removal(blob)] : [];
    // One read of all three: separate commits remove owner, removal and sums.
    const [sums, ...found] = await records.getAll([key, ...owners]);
    if (sums === undefined || found.some((entry) => entry !== undefined)) continue;
    yield {
      kind: 'stray-record',
      record: shownKey(key),
      message: `the record has the block sums of a blob that nothing owns`,
    };
  }
}

async function contradictionOf(records: RecordStore, kind: string, key: Key): Promise<string | undefined> {
  const [, one, other, order] = decodeKey(key);
  const [first, second] = [String(one ?? ''), String(other ?? '')];
  if (kind === 't' && isBlobId(first)) {
    const [tombstone, owner] = await records.getAll([key, recordKeys.owner(first)]);
    if (tombstone === undefined || owner === undefined) return undefined;
    return `blob ${first} has a tombstone and an owner`;
  }
  if (kind !== 'd') return undefined;
  const place = { bucket: first, key: second, ...(order && { order }) };
  const [mark, object] = await records.getAll([key, objectRecordKey(place)]);
  if (mark === undefined || (object !== undefined && hasMark(object.value, first, second))) return undefined;
  return `the record says that ${placeText(place)} is damaged, and the object's own does not`;
}

/** Another check reports a record that cannot be read. */
function hasMark(value: Buffer, bucket: string, key: string): boolean {
  try {
    return decodeObject(value, bucket, key).damage !== undefined;
  } catch (error) {
    if (isUnreadable(error)) return true;
    throw error;
  }
}

function isOfKind(kind: string, decoded: object): boolean {
  const record = decoded as Record<string, unknown>;
  if (kind === 'b') return typeof record['created'] === 'number';
  if (kind === 'x') return typeof record['queued'] === 'number';
  if (kind === 'd') return typeof record['found'] === 'number';
  return kind !== 't' || typeof record['given'] === 'number';
}
