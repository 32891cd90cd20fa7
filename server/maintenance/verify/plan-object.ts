import { isBlockSize } from '../../objects/checksums/block-sums.ts';
import { decodeObject, type ObjectRecord } from '../../objects/records/object-record.ts';
import { decodeManifest, type ManifestPart } from '../../objects/records/body-records.ts';
import { decodeBody, type VersionOrder } from '../../objects/records/record-format.ts';
import type { BlobId } from '../../store/blob-store.ts';
import type { Entry } from '../../store/record-store.ts';
import type { StoredStream } from './check-stream.ts';
import { copyOf } from '../../objects/records/restored-copy.ts';
import { type Issue, shownKey } from './issue.ts';
import { partOf } from '../../objects/records/version-place.ts';
import { namedPlace, type ObjectRecords, type Place, placeText } from './object-records.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { StoreError } from '../../store/store-error.ts';

/** The state of an object by its records alone, and the streams that remain to be checked. */
export interface ObjectPlan {
  readonly record?: ObjectRecord;
  readonly issues: readonly Issue[];
  readonly streams: readonly ObjectStream[];
}

export type ObjectStream = StoredStream &
  ({ readonly kind: 'inline'; readonly bytes: Buffer } | { readonly kind: 'blob'; readonly blob: BlobId });

/** Plans the check of one object. This function is pure. The records must be of one moment, or the issues mean nothing. */
export function planObject(records: ObjectRecords): ObjectPlan {
  const { bucket, key, object, marker, inline, manifest } = records;
  const what = placeText(records);
  if (object === undefined) {
    const rest =
      marker === undefined
        ? lostObject(records, [inline, manifest])
        : strays([inline, manifest], `${what} is a delete marker`);
    return { issues: [...currentIssues(records), ...rest], streams: [] };
  }
  let record: ObjectRecord;
  try {
    record = decodeWhole(object, records);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { issues: [unreadable(object, error)], streams: [] };
  }
  const contradictions =
    records.order === undefined ? currentIssues(records) : noncurrentIssues(records, records.order, record);
  const { body, size } = record;
  const without = (others: readonly (Entry | undefined)[]) => [
    ...contradictions,
    ...strays(others, `object ${bucket}/${key} has a body of kind ${body.kind}`),
  ];
  switch (body.kind) {
    case 'blob':
      return {
        record,
        issues: without([inline, manifest]),
        streams: withCopies(record, [{ kind: 'blob', blob: body.blob, size, protection: body }]),
      };
    case 'inline': {
      const bytes = ofObject(inline, record.id);
      const issues = without([manifest]);
      if (Buffer.isBuffer(bytes))
        return { record, issues, streams: [{ kind: 'inline', bytes, size, protection: body }] };
      return {
        record,
        issues: [...issues, unusable(records, bytes, `the body of ${what} ${bytes.message}`)],
        streams: [],
      };
    }
    case 'parts': {
      const parts = partsOf(manifest, record);
      const issues = without([inline]);
      if ('kind' in parts)
        return {
          record,
          issues: [...issues, unusable(records, parts, `the manifest of ${what} ${parts.message}`)],
          streams: [],
        };
      return {
        record,
        issues,
        streams: withCopies(
          record,
          parts.map(({ blob, size: partSize, protection }) => ({ kind: 'blob', blob, size: partSize, protection })),
        ),
      };
    }
    case 'none':
      return { issues: without([inline, manifest]), streams: [] };
    default:
      return body satisfies never;
  }
}

type BlobStream = Extract<ObjectStream, { kind: 'blob' }>;

/** Adds the blobs of the restored copy of a body in a tier. */
function withCopies(record: ObjectRecord, streams: readonly BlobStream[]): readonly BlobStream[] {
  const copies = streams.flatMap((stream) => {
    const blob = copyOf(record, stream.blob);
    return blob === undefined ? [] : [{ ...stream, blob }];
  });
  return [...streams, ...copies];
}

/** Decodes the record of a version. Throws `StoreError` also where it is not complete. */
function decodeWhole({ value }: Entry, place: Place): ObjectRecord {
  const { bucket, key, order } = place;
  const record = decodeObject(value, bucket, key);
  if (hasShape(record) && (record.deleteMarker !== true || order !== undefined)) return record;
  throw new StoreError('unreadable-record', `the record of object ${placeText(place)} is not complete`);
}

/** Finds contradictions between the records of a key that say which version is current. */
function currentIssues(records: ObjectRecords): Issue[] {
  const { bucket, key, object, marker, order } = records;
  const message = `${bucket}/${key} has`;
  if (records.headless)
    return [inconsistent(records, `${message} noncurrent versions, and neither a current object nor a delete marker`)];
  if (marker === undefined || order !== undefined) return [];
  const issues =
    object === undefined ? [] : [inconsistent(records, `${message} a current object and a current delete marker`)];
  try {
    if (decodeObject(marker.value, bucket, key).deleteMarker !== true)
      issues.push(inconsistent(records, `${message} an object as current delete marker`));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    issues.push(unreadable(marker, error));
  }
  return issues;
}

function noncurrentIssues(records: ObjectRecords, order: VersionOrder, record: ObjectRecord): Issue[] {
  const { bucket, key, current } = records;
  const { versionId } = record;
  if (!partOf(record).equals(order))
    return [inconsistent(records, `the record of ${placeText(records)} has the version id ${versionId ?? 'null'}`)];
  if (versionId !== undefined || current === undefined || !isNullVersion(current, records)) return [];
  return [inconsistent(records, `${bucket}/${key} has two null versions: the current one, and a noncurrent one`)];
}

/** The check of the current version reports a record that cannot be read. */
function isNullVersion(entry: Entry, { bucket, key }: Place): boolean {
  try {
    return decodeObject(entry.value, bucket, key).versionId === undefined;
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}

function inconsistent(place: Place, message: string): Issue {
  return { kind: 'inconsistent-versions', ...namedPlace(place), message };
}

function unreadable({ key }: Entry, { message }: Error): Issue {
  return { kind: 'unreadable-record', record: shownKey(key), message };
}

interface Wrong {
  readonly kind: 'missing-body' | 'damaged-body';
  readonly message: string;
}

function ofObject(entry: Entry | undefined, id: string): Buffer | Wrong {
  if (entry === undefined) return { kind: 'missing-body', message: 'is missing' };
  try {
    return decodeBody(entry.value, id) ?? { kind: 'damaged-body', message: 'belongs to another object' };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { kind: 'damaged-body', message: `cannot be read: ${error.message}` };
  }
}

function wrong(message: string): Wrong {
  return { kind: 'damaged-body', message };
}

function partsOf(entry: Entry | undefined, record: ObjectRecord): readonly ManifestPart[] | Wrong {
  const bytes = ofObject(entry, record.id);
  if (!Buffer.isBuffer(bytes)) return bytes;
  let parts: readonly ManifestPart[];
  try {
    parts = decodeManifest(bytes, record.body.kind === 'parts' ? record.body.crc : undefined);
  } catch (error) {
    return wrong(`is damaged: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(parts) || parts.some((part) => !hasPartShape(part)))
    return wrong('is damaged: it is no list of parts');
  if (record.body.kind === 'parts' && parts.length !== record.body.count) {
    return wrong(`has ${parts.length} parts instead of ${record.body.count}`);
  }
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  return size === record.size ? parts : wrong(`has parts of ${size} bytes instead of ${record.size}`);
}

/** A changed byte may leave valid JSON of another shape. */
function hasShape(record: ObjectRecord): boolean {
  const { body } = record as Partial<ObjectRecord>;
  if (!Number.isSafeInteger(record.size) || typeof record.id !== 'string' || body === undefined) return false;
  if ((body.kind === 'none') !== (record.deleteMarker === true)) return false;
  if (body.kind === 'none') return true;
  if (body.kind === 'parts') return Number.isSafeInteger(body.count);
  return (body.kind === 'inline' || (body.kind === 'blob' && isHex(body.blob))) && isProtection(body);
}

function hasPartShape(part: ManifestPart): boolean {
  return (
    typeof part === 'object' && Number.isSafeInteger(part.size) && isHex(part.blob) && isProtection(part.protection)
  );
}

/** Reports if a value is a blob id. */
export function isHex(blob: unknown): boolean {
  return typeof blob === 'string' && /^[0-9a-f]{32}$/.test(blob);
}

export function isProtection(protection: unknown): boolean {
  if (typeof protection !== 'object' || protection === null) return false;
  if ('salt' in protection) return typeof protection.salt === 'string';
  if ('block' in protection) {
    const list = 'sums' in protection ? protection.sums : 'root' in protection ? protection.root : undefined;
    return isBlockSize(protection.block) && typeof list === 'string';
  }
  return 'crc' in protection
    ? typeof protection.crc === 'number'
    : 'gmac' in protection && typeof protection.gmac === 'string';
}

function unusable(place: Place, { kind }: Wrong, message: string): Issue {
  return { kind, ...namedPlace(place), message };
}

/** A commit that deletes an object deletes its body too. */
function lostObject(place: Place, entries: readonly (Entry | undefined)[]): Issue[] {
  const { bucket, key } = place;
  return entries
    .filter((entry) => entry !== undefined)
    .map((entry) => ({
      kind: 'lost-object',
      record: shownKey(entry.key),
      bucket,
      key,
      message: `the body of ${placeText(place)} is there, and its record is lost`,
    }));
}

function strays(entries: readonly (Entry | undefined)[], why: string): Issue[] {
  return entries
    .filter((entry) => entry !== undefined)
    .map((entry) => ({
      kind: 'stray-record',
      record: shownKey(entry.key),
      message: `nothing reads this record: ${why}`,
    }));
}
