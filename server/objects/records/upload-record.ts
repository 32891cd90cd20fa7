import type { Acl } from '../../../protocol/s3/acl.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Key, RecordStore, Revision } from '../../store/record-store.ts';
import type {
  CreateMultipartUpload,
  ObjectHeaders,
  ObjectTags,
  PartListing,
  Replica,
} from '../contract/object-layer.ts';
import type { ChangeTimes } from '../contract/objects.ts';
import {
  type BucketRecord,
  countsAcls,
  type DecodedBuckets,
  getBucket,
  noSuchBucket,
  type StoredBucket,
} from './bucket-record.ts';
import type { ObjectLock, Protection, SealedKeys } from './object-record.ts';
import { decodeRecord, encodeRecord, recordKeys } from './record-format.ts';
import type { StoredChecksum, StoredEtag } from './stored-digests.ts';

/** A multipart upload in progress; its id becomes that of the object. */
export interface UploadRecord {
  readonly initiated: number;
  readonly headers: ObjectHeaders;
  readonly sealed?: SealedKeys;
  readonly checksum?: NonNullable<CreateMultipartUpload['checksum']>;
  readonly tags?: ObjectTags;
  /** The lock that the request asked for. The default retention of the bucket is added at the completion. */
  readonly lock?: ObjectLock;
  readonly acl?: Acl;
  readonly replica?: StoredReplica;
}

/** `Replica` of the object layer. Times are milliseconds since 1970. */
interface StoredReplica {
  readonly versionId: string;
  readonly modified: number;
  readonly order?: string;
  /** The ETag of the source, of an upload that is not encrypted. */
  readonly etag?: string;
  /** Base64: the sealed ETag of the source, as the record of the object has it. */
  readonly sealedEtag?: string;
  readonly changed?: number;
  readonly changes?: ChangeTimes;
}

export function storedReplica(
  { versionId, modified, order, changed, changes }: Replica,
  etag: StoredEtag | undefined,
): StoredReplica {
  return {
    versionId,
    modified: modified.getTime(),
    ...(order !== undefined && { order }),
    ...(typeof etag === 'string' && { etag }),
    ...(Buffer.isBuffer(etag) && { sealedEtag: etag.toString('base64') }),
    ...(changed && { changed: changed.getTime() }),
    ...(changes && { changes }),
  };
}

/** Returns the ETag that the object of an upload has from its source. */
export function sourceEtag(replica: StoredReplica | undefined): StoredEtag | undefined {
  const sealed = replica?.sealedEtag;
  return sealed === undefined ? replica?.etag : Buffer.from(sealed, 'base64');
}

/** Returns what listings show of an upload. */
export function shownUpload(
  { initiated, headers: { storageClass }, checksum, acl }: UploadRecord,
  bucket: Pick<BucketRecord, 'ownership'>,
): Pick<PartListing, 'initiated' | 'storageClass' | 'checksum' | 'owner'> {
  const owner = countsAcls(bucket) ? acl?.owner : undefined;
  return {
    initiated: new Date(initiated),
    ...(owner !== undefined && { owner }),
    ...(storageClass !== undefined && { storageClass }),
    ...(checksum && { checksum }),
  };
}

export interface StoredUpload {
  readonly record: UploadRecord;
  readonly revision: Revision;
}

export interface PartRecord {
  readonly blob: BlobId;
  readonly size: number;
  /** Base64 and sealed, where it is the MD5 of encrypted bytes. */
  readonly etag: string | { readonly sealed: string };
  readonly modified: number;
  readonly protection: Protection;
  readonly checksum?: StoredChecksum;
}

export interface StoredPart {
  readonly number: number;
  readonly record: PartRecord;
  readonly key: Key;
  readonly revision: Revision;
}

/** Returns undefined for a text that is not an id: the text of the client becomes part of the record key, and nothing else may. */
export function uploadRecordKey(bucket: string, key: string, uploadId: string): Key | undefined {
  return /^[0-9a-f]{32}$/.test(uploadId) ? recordKeys.upload(bucket, key, uploadId) : undefined;
}

/** Converts the digests of a part's record to the form of an object's. */
export function digestsOfRecord({ etag, checksum }: PartRecord): {
  readonly etag: StoredEtag;
  readonly checksum?: StoredChecksum;
} {
  return {
    etag: typeof etag === 'string' ? etag : Buffer.from(etag.sealed, 'base64'),
    ...(checksum && { checksum }),
  };
}

/** Converts digests to the form of a part's record. */
export function recordOfDigests({
  etag,
  checksum,
}: {
  readonly etag: StoredEtag;
  readonly checksum?: StoredChecksum;
}): Pick<PartRecord, 'etag' | 'checksum'> {
  return {
    etag: typeof etag === 'string' ? etag : { sealed: etag.toString('base64') },
    ...(checksum && { checksum }),
  };
}

export async function findUpload(
  records: RecordStore,
  bucket: string,
  key: string,
  uploadId: string,
): Promise<StoredUpload | undefined> {
  const recordKey = uploadRecordKey(bucket, key, uploadId);
  const entry = recordKey && (await records.get(recordKey));
  return entry && { record: decodeUpload(entry.value, uploadId), revision: entry.revision };
}

/** Throws `NoSuchUpload`, and `NoSuchBucket` where the bucket is absent too. */
export async function getUpload(
  records: RecordStore,
  bucket: string,
  key: string,
  uploadId: string,
): Promise<StoredUpload> {
  const found = await findUpload(records, bucket, key, uploadId);
  if (found !== undefined) return found;
  await getBucket(records, bucket);
  throw noSuchUpload(uploadId);
}

/** Reads an upload and its bucket at one moment. Throws as `getUpload`. */
export async function getUploadInBucket(
  { records, buckets }: { readonly records: RecordStore; readonly buckets: DecodedBuckets },
  bucket: string,
  key: string,
  uploadId: string,
): Promise<StoredUpload & { readonly inBucket: StoredBucket }> {
  const recordKey = uploadRecordKey(bucket, key, uploadId);
  const [inBucket, entry] = await records.getAll([recordKeys.bucket(bucket), ...(recordKey ? [recordKey] : [])]);
  if (inBucket === undefined) throw noSuchBucket(bucket);
  if (entry === undefined) throw noSuchUpload(uploadId);
  const { revision, value } = entry;
  return { record: decodeUpload(value, uploadId), revision, inBucket: buckets.decode(inBucket, bucket) };
}

export function noSuchUpload(uploadId: string): S3Error {
  return new S3Error('NoSuchUpload', undefined, { details: { UploadId: uploadId.slice(0, 100) } });
}

export function decodeUpload(value: Buffer, uploadId: string): UploadRecord {
  return decodeRecord(value, `upload ${uploadId}`) as UploadRecord;
}

/** Yields the uploaded parts with numbers above `after`, in the order of their numbers. */
export async function* partsOf(
  records: RecordStore,
  uploadId: string,
  page: { readonly after?: number; readonly limit?: number } = {},
): AsyncGenerator<StoredPart> {
  const start = recordKeys.part(uploadId, (page.after ?? 0) + 1);
  const limit = page.limit === undefined ? {} : { limit: page.limit };
  for await (const item of records.scan({ ...within('p', uploadId), start, ...limit })) {
    if (item.kind !== 'entry') continue;
    const number = Number(decodeKey(item.key)[2]);
    const record = decodeRecord(item.value, `part ${number} of upload ${uploadId}`) as PartRecord;
    yield { number, record, key: item.key, revision: item.revision };
  }
}

export interface ListedUpload {
  readonly recordKey: Key;
  readonly key: string;
  readonly uploadId: string;
}

export async function* uploadsOfBucket(records: RecordStore, bucket: string): AsyncGenerator<ListedUpload> {
  for await (const item of records.scan(within('u', bucket))) {
    if (item.kind !== 'entry') continue;
    const [, , key, uploadId] = decodeKey(item.key);
    yield { recordKey: item.key, key: String(key), uploadId: String(uploadId) };
  }
}

/**
 * Returns the changes that end an upload in a commit. They do not touch its parts: without the record of the upload no part is
 * committed, and garbage collection finds the parts under `q`.
 */
export function endUpload(upload: { readonly recordKey: Key; readonly uploadId: string }): {
  readonly put: readonly { readonly key: Key; readonly value: Buffer }[];
  readonly delete: readonly Key[];
} {
  return {
    put: [{ key: recordKeys.leftovers(upload.uploadId), value: encodeRecord({}) }],
    delete: [upload.recordKey],
  };
}
