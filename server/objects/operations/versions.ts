import { isVersionId } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { after, prefixOf, within } from '../../store/keys.ts';
import type { Batch, Entry, Key } from '../../store/record-store.ts';
import type { ObjectContext } from '../context.ts';
import { type BucketRecord, getBucket, noSuchBucket, type StoredBucket } from '../records/bucket-record.ts';
import {
  type Body,
  decodeObject,
  encodeObject,
  type ObjectRecord,
  type StoredObject,
} from '../records/object-record.ts';
import { recordKeys, versionOrder, type VersionOrder } from '../records/record-format.ts';
import { type BatchChanges, objectRecordKey, removeObject, type VersionPlace } from './commit-change.ts';
import { checkRemovable } from '../attributes/object-lock.ts';
import { StoreError } from '../../store/store-error.ts';

/** The version id of the null version, as clients see it. */
export const NULL_VERSION = 'null';

/** The history that a bucket keeps of a key: none, a version for each write, or one null version that each write replaces. */
type History = 'none' | 'versions' | 'null-version';

function historyOf({ versioning }: BucketRecord, key: string): History {
  if (versioning === undefined) return 'none';
  const { status, excludedPrefixes, excludeFolders } = versioning;
  if (status === 'Suspended' || (excludeFolders === true && key.endsWith('/'))) return 'null-version';
  return excludedPrefixes?.some((prefix) => matchesPrefix(key, prefix)) === true ? 'null-version' : 'versions';
}

/** Reports if a key begins with a prefix, in which `*` matches any text. */
function matchesPrefix(key: string, prefix: string): boolean {
  const [first = '', ...rest] = prefix.split('*');
  if (!key.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = key.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
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

export function storedObject(entry: Entry | undefined, bucket: string, key: string): StoredObject | undefined {
  return entry && { record: decodeObject(entry.value, bucket, key), revision: entry.revision };
}

/** The version that a write creates. Times grow strictly along the versions of a key. */
export interface NewVersion {
  readonly modified: number;
  readonly versionId?: string;
}

export function newVersion(context: ObjectContext, { history, current, marker }: Place): NewVersion {
  const now = context.clock();
  if (history === 'none') return { modified: now };
  const modified = Math.max(now, ((current ?? marker)?.record.modified ?? 0) + 1);
  if (history === 'null-version') return { modified };
  return { modified, versionId: modified.toString(16).padStart(12, '0') + context.random(10).toString('hex') };
}

/**
 * Returns the changes for the current version, and for the null version that the new one replaces: they are removed, or become
 * noncurrent. `by` is the kind of the new body; a delete marker has none.
 */
export async function replaceVersion(
  context: ObjectContext,
  place: Place,
  by: Exclude<Body['kind'], 'none'> | undefined,
): Promise<BatchChanges> {
  const { bucket, key, history, current, marker, nullVersion } = place;
  if (history === 'none') {
    if (current?.record.lock !== undefined) checkRemovable(current.record, context.lockClock.earliest(), false);
    return removeObject(context, place, current, by);
  }
  const removed = removedBy(place);
  for (const { record } of removed) checkRemovable(record, context.lockClock.earliest(), false);
  const ofCurrent =
    current === undefined || removed.includes(current)
      ? await removeObject(context, { bucket, key }, current, by)
      : await moveObject(
          context,
          { bucket, key },
          { bucket, key, order: versionOrder(current.record.versionId) },
          current,
          by,
        );
  const markerKey = recordKeys.marker(bucket, key);
  const ofMarker: BatchChanges =
    marker === undefined
      ? { expect: [{ kind: 'absent', key: markerKey }], put: [], delete: [] }
      : replaceMarker(place, marker, by !== undefined);
  const ofNull =
    nullVersion === undefined
      ? noChanges
      : await removeObject(context, { bucket, key, order: versionOrder(undefined) }, nullVersion, undefined);
  return joined(ofCurrent, ofMarker, ofNull);
}

/** The place of a new version. */
export interface PlacedVersion {
  readonly kind: 'new';
  readonly version: NewVersion;
  /** Undefined for the current version. */
  readonly order?: VersionOrder | undefined;
  readonly changes: BatchChanges;
  /** The bytes of what it replaces, where that is not what a write of the place removes. */
  readonly removedBytes?: number;
}

/** Makes a new version the current one. */
export async function placeNew(
  context: ObjectContext,
  place: Place,
  by: Exclude<Body['kind'], 'none'> | undefined,
): Promise<PlacedVersion> {
  const version = newVersion(context, place);
  return { kind: 'new', version, changes: await replaceVersion(context, place, by) };
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

const noChanges: BatchChanges = { expect: [], put: [], delete: [] };

/** Joins changes. What one of them writes, another does not delete: a promoted version takes the place of a removed one. */
export function joined(...changes: readonly BatchChanges[]): BatchChanges {
  const expect = [];
  const put = [];
  const deleted = [];
  // Each write of a version joins some changes, most of them empty.
  for (const change of changes) {
    for (const one of change.expect) expect.push(one);
    for (const one of change.put) put.push(one);
    for (const one of change.delete) deleted.push(one);
  }
  if (deleted.length === 0) return { expect, put, delete: deleted };
  // A set, since an object of 10,000 parts has as many keys in both lists.
  const written = new Set(put.map(({ key }) => key.toString('latin1')));
  return { expect, put, delete: deleted.filter((key) => !written.has(key.toString('latin1'))) };
}

/** A null marker is replaced in a suspended bucket; every other marker becomes noncurrent. A new marker overwrites its record. */
function replaceMarker(
  { bucket, key, history }: Place,
  { record, revision }: StoredObject,
  byObject: boolean,
): BatchChanges {
  const markerKey = recordKeys.marker(bucket, key);
  const replaced = history === 'null-version' && record.versionId === undefined;
  const order = versionOrder(record.versionId);
  return {
    expect: [{ kind: 'revision', key: markerKey, revision }],
    put: replaced ? [] : [{ key: recordKeys.version(bucket, key, order), value: encodeObject(record) }],
    delete: byObject ? [markerKey] : [],
  };
}

/** Returns the record of a delete marker. It has an id of its own, as every object. */
export function deleteMarker(context: ObjectContext, version: NewVersion): ObjectRecord {
  return {
    id: version.versionId ?? version.modified.toString(16).padStart(12, '0') + context.random(10).toString('hex'),
    ...version,
    size: 0,
    etag: '',
    headers: { metadata: {} },
    body: { kind: 'none' },
    deleteMarker: true,
  };
}

/**
 * Returns the changes that move the records of an object from one place to another: the current version becomes noncurrent, a
 * noncurrent one current, or an object gets another key. `by` is the kind of a new body at the first place, `record` the record at the
 * second one.
 */
export async function moveObject(
  context: ObjectContext,
  from: VersionPlace,
  to: VersionPlace,
  { record, revision }: StoredObject,
  by: Body['kind'] | undefined,
  moved = record,
): Promise<BatchChanges> {
  const recordKey = objectRecordKey(from);
  const put = [{ key: objectRecordKey(to), value: encodeObject(moved) }];
  const removed = by === undefined ? [recordKey] : [];
  const tables = [
    ...(record.body.kind === 'inline' ? [{ of: recordKeys.inline, kept: by === 'inline' }] : []),
    ...(record.body.kind === 'parts' ? [{ of: recordKeys.manifest, kept: by === 'parts' }] : []),
    ...(record.damage === undefined ? [] : [{ of: recordKeys.damage, kept: false }]),
  ];
  for (const table of tables) {
    const source = table.of(from.bucket, from.key, from.order);
    const entry = await context.records.get(source);
    // A damaged version moves without the records that it has lost.
    if (entry === undefined && record.damage !== undefined) continue;
    // Records without this id are of a newer object: the commit would fail.
    if (entry === undefined) throw new StoreError('changed', 'the records changed meanwhile');
    put.push({ key: table.of(to.bucket, to.key, to.order), value: entry.value });
    if (!table.kept) removed.push(source);
  }
  return { expect: [{ kind: 'revision', key: recordKey, revision }], put, delete: removed };
}

/** A version, and its place: `current` under `o`, `marker` under `l`, `noncurrent` under `v`. */
export interface FoundVersion {
  readonly at: 'current' | 'marker' | 'noncurrent';
  readonly order: VersionOrder | undefined;
  readonly stored: StoredObject;
}

/** Reads a version by the id that a client sent. Returns undefined where there is none. Throws `InvalidArgument` for a text that is no id. */
export async function findVersion(
  context: Pick<ObjectContext, 'records'>,
  bucket: string,
  key: string,
  versionId: string,
): Promise<FoundVersion | undefined> {
  const order = orderOf(versionId);
  const [object, marker, noncurrent] = await context.records.getAll([
    recordKeys.object(bucket, key),
    recordKeys.marker(bucket, key),
    recordKeys.version(bucket, key, order),
  ]);
  const candidates = [
    { at: 'current', order: undefined, stored: storedObject(object, bucket, key) },
    { at: 'marker', order: undefined, stored: storedObject(marker, bucket, key) },
    { at: 'noncurrent', order, stored: storedObject(noncurrent, bucket, key) },
  ] as const;
  for (const { at, order: place, stored } of candidates) {
    if (stored !== undefined && (at === 'noncurrent' || shownVersionId(stored.record) === versionId)) {
      return { at, order: place, stored };
    }
  }
  return undefined;
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
    },
  });
}

/** Refuses an object other than the one whose ACL or tags allowed the request; '' means that it is absent. Throws `SlowDown`. */
export function checkIdentity(object: Pick<ObjectRecord, 'id'> | undefined, onlyId: string | undefined): void {
  if (onlyId !== undefined && onlyId !== (object?.id ?? '')) throw replacedMeanwhile();
}

/** Checks the current version as `checkIdentity` does. */
export function checkCurrent({ current }: Pick<Place, 'current'>, onlyId: string | undefined): void {
  if (onlyId !== undefined) checkIdentity(current?.record, onlyId);
}

/** Clients repeat the request, and it is decided with the ACL and the tags of the new object. */
export function replacedMeanwhile(): S3Error {
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

/** Converts the version id of a client. Throws `InvalidArgument`. */
export function orderOf(versionId: string): VersionOrder {
  if (isVersionId(versionId)) return versionOrder(versionId === NULL_VERSION ? undefined : versionId);
  throw new S3Error('InvalidArgument', 'Invalid version id specified', {
    details: { ArgumentName: 'versionId', ArgumentValue: versionId.slice(0, 100) },
  });
}

/**
 * Returns the changes that make the newest noncurrent version of a key current, in the commit that removes the current one. An object is
 * counted: a pass over all versions that has read the current ones, and not yet the noncurrent ones, would miss it.
 */
export async function promoteNewest(
  context: ObjectContext,
  bucket: string,
  key: string,
): Promise<BatchChanges & Pick<Batch, 'add'>> {
  const found = await newestNoncurrent(context, bucket, key);
  if (found === undefined) return noChanges;
  const { order, stored } = found;
  if (stored.record.deleteMarker !== true) {
    const moved = await moveObject(context, { bucket, key, order }, { bucket, key }, stored, undefined);
    return { ...moved, add: [{ key: recordKeys.promotions(bucket), delta: 1n }] };
  }
  const versionKey = recordKeys.version(bucket, key, order);
  return {
    expect: [{ kind: 'revision', key: versionKey, revision: stored.revision }],
    put: [{ key: recordKeys.marker(bucket, key), value: encodeObject(stored.record) }],
    delete: [versionKey],
  };
}

/** The null version has the first key of all: it is compared by its time. */
async function newestNoncurrent(context: ObjectContext, bucket: string, key: string) {
  const nullOrder = versionOrder(undefined);
  const nullKey = recordKeys.version(bucket, key, nullOrder);
  const nullVersion = storedObject(await context.records.get(nullKey), bucket, key);
  const range = { start: after(nullKey), end: within('v', bucket, key).end, limit: 1 };
  for await (const item of context.records.scan(range)) {
    if (item.kind !== 'entry') continue;
    const stored = storedObject(item, bucket, key);
    const order = lastPartOf(item.key, prefixOf('v', bucket, key).length);
    if (stored !== undefined && (nullVersion === undefined || nullVersion.record.modified < stored.record.modified)) {
      return { order, stored };
    }
  }
  return nullVersion && { order: nullOrder, stored: nullVersion };
}

/** Returns the order part of a key under `v` that begins at this byte. */
export function lastPartOf(recordKey: Buffer, start: number): VersionOrder {
  const parts = recordKey.subarray(start, -2);
  return parts.includes(0) ? unescaped(parts) : Buffer.from(parts);
}

function unescaped(part: Buffer): Buffer {
  const bytes: number[] = [];
  for (let at = 0; at < part.length; at += 1) {
    bytes.push(part[at] ?? 0);
    // A zero byte is written 00 FF.
    if (part[at] === 0) at += 1;
  }
  return Buffer.from(bytes);
}
