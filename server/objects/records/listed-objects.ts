import { ownerId } from '../../../protocol/s3/acl.ts';
import type { ListedDetails, ListedObject, ListedVersion } from '../contract/object-layer.ts';
import { isUnreadable } from './damage.ts';
import {
  decodeHead,
  decodeObject,
  hasHead,
  headOf,
  type ObjectHead,
  type ObjectRecord,
  shownLock,
  shownRestore,
} from './object-record.ts';
import type { SealedEtags } from './sealed-etags.ts';

/**
 * Returns what a listing shows of a record, mostly without decoding it. A sealed ETag is empty until `sealed` opens those of a page
 * together.
 */
export function decodeListed(value: Buffer, bucket: string, key: string, sealed: SealedEtags): ListedObject {
  return decodeAs(Listed, value, { bucket, key }, sealed);
}

function decodeAs<T extends Listed>(
  Kind: ListedKind<T>,
  value: Buffer,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  sealed: SealedEtags,
): T {
  if (hasHead(value)) {
    const head = decodeHead(value, `object ${bucket}/${key}`);
    if (head.complete) {
      const { etag, etagEnd, end } = head;
      if (typeof etag === 'string') return new Kind(key, head, etag);
      const listed = new Kind(key, head, '');
      if (
        sealed.addRecord(listed, value, { idStart: idStart(value, end), etagStart: etagEnd - etag.length, etagEnd })
      ) {
        return listed;
      }
    }
  }
  const record = decodeObject(value, bucket, key);
  const { id, etag } = record;
  const listed = new Kind(key, headOf(record), typeof etag === 'string' ? etag : '', record);
  if (typeof etag !== 'string') sealed.add(listed, id, etag);
  return listed;
}

/** Returns what `details` of a listing ask for. */
export function detailsOf(value: Buffer, bucket: string, key: string): ListedDetails {
  const { id, etag, headers, tags = {}, sealed, lock, restore, acl } = decodeObject(value, bucket, key);
  const hasSealedEtag = typeof etag !== 'string';
  const bucketKey = sealed?.scheme === 'SSE-KMS' && sealed.bucketKey === true;
  const shown = { lock: lock && shownLock(lock), restore: restore && shownRestore(restore) };
  return { id, hasSealedEtag, headers, tags, scheme: sealed?.scheme, bucketKey, ...shown, acl };
}

/** Returns the owner of an object as a listing shows it. A damaged record has none, so that the listing shows the other objects. */
export function ownerOf(value: Buffer, bucket: string, key: string): Pick<ListedObject, 'owner'> {
  try {
    const owner = decodeObject(value, bucket, key).acl?.owner;
    return owner === undefined || owner === ownerId ? {} : { owner };
  } catch (error) {
    if (isUnreadable(error)) return {};
    throw error;
  }
}

/** Returns what a listing of versions shows of a record, as `decodeListed` does. */
export function decodeListedVersion(value: Buffer, place: ListedPlace, sealed: SealedEtags): ListedVersion {
  const { bucket, key, isLatest, details, owners, replication } = place;
  const version = decodeAs(Version, value, place, sealed);
  version.isLatest = isLatest;
  if (replication === true) version.replication = decodeObject(value, bucket, key).replication;
  if (details === true && !version.deleteMarker) version.details = detailsOf(value, bucket, key);
  if (owners === true && !version.deleteMarker) Object.assign(version, ownerOf(value, bucket, key));
  return version;
}

interface ListedPlace {
  readonly bucket: string;
  readonly key: string;
  readonly isLatest: boolean;
  readonly details: boolean | undefined;
  readonly owners: boolean | undefined;
  readonly replication: boolean | undefined;
}

/** The beginning of the JSON of a record: listings read the id without parsing it. */
const ID_AHEAD = Buffer.from('{"id":"');

/** Returns the offset of the id; undefined where another server wrote it elsewhere. */
function idStart(value: Buffer, json: number): number | undefined {
  const start = json + ID_AHEAD.length;
  for (let at = 0; at < ID_AHEAD.length; at += 1) if (value[json + at] !== ID_AHEAD[at]) return undefined;
  return value[start + 32] === 0x22 ? start : undefined;
}

/** A class: an object literal with optional members costs five times as much. */
class Listed implements ListedObject {
  readonly key: string;
  readonly size: number;
  etag: string;
  readonly modified: number;
  readonly encrypted: boolean;
  readonly checksum: ListedObject['checksum'];
  readonly storageClass: string | undefined;
  damage: ListedObject['damage'];

  /** `record` is passed where the head is not complete. */
  constructor(key: string, head: ObjectHead, etag: string, record?: ObjectRecord) {
    this.key = key;
    this.size = head.size;
    this.etag = etag;
    this.modified = head.modified;
    this.encrypted = head.encrypted;
    this.checksum = head.checksum;
    this.storageClass = record?.headers.storageClass;
    this.damage = record?.damage;
  }
}

class Version extends Listed implements ListedVersion {
  readonly versionId: string;
  readonly order: string | undefined;
  isLatest = false;
  readonly deleteMarker: boolean;
  replication: ListedVersion['replication'];
  details: ListedVersion['details'];

  constructor(key: string, head: ObjectHead, etag: string, record?: ObjectRecord) {
    super(key, head, etag, record);
    this.versionId = head.versionId ?? 'null';
    this.order = head.order;
    this.deleteMarker = head.deleteMarker;
  }
}

type ListedKind<T extends Listed> = new (key: string, head: ObjectHead, etag: string, record?: ObjectRecord) => T;
