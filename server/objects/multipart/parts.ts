import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isStoreError } from '../../store/store-error.ts';
import { commitChange } from '../commit/commit-change.ts';
import { copiedVersion, openSource, sourceRange } from '../operations/copy-object.ts';
import { openUploadSealed } from '../encryption/customer-keys.ts';
import { checkBlocked, hasPlainEtag } from '../encryption/decide-encryption.ts';
import { sealDigests, openDigests } from '../encryption/digests.ts';
import type { ObjectContext } from '../context/context.ts';
import type { Batch, Entry } from '../../store/record-store.ts';
import { checkQuota, countBytes } from '../quota/count-bytes.ts';
import { shownAbortion } from '../lifecycle/evaluate.ts';
import { discardBlob, receiveBody } from '../bodies/receive-body.ts';
import { recoverObjectKey } from '../encryption/object-keys.ts';
import type {
  ByteRange,
  CopiedVersion,
  CopySource,
  ExpectedDigests,
  ObjectEncryption,
  PartInfo,
  PutPart,
  ListParts,
  PartListing,
} from '../contract/object-layer.ts';
import { DEFAULT_CHECKSUM } from './choose-parts.ts';
import { digestsOf } from '../operations/put-object.ts';
import { getBucket, guardBucket, type StoredBucket } from '../records/bucket-record.ts';
import { shownEncryption } from '../records/object-record.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';
import type { Digests } from '../records/stored-digests.ts';
import {
  getUpload,
  getUploadInBucket,
  shownUpload,
  type PartRecord,
  recordOfDigests,
  type UploadRecord,
  digestsOfRecord,
  partsOf,
} from '../records/upload-record.ts';
import { keptChunks } from '../../streams/chunks.ts';
import { bodyFrom } from '../contract/body-source.ts';
import type { StoredBlob } from '../records/blob-claims.ts';
import { claimBlob, queueRemoval } from '../records/blob-claims.ts';

const MAX_PARTS = 10_000;

/** Stores a part as a blob of its own, however small. Uploading its number again replaces it. */
export async function putPart(
  context: ObjectContext,
  request: PutPart,
  from: 'client' | 'copy' = 'client',
): Promise<PartInfo & { readonly encryption?: ObjectEncryption }> {
  const { bucket, key, uploadId, partNumber } = request;
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > MAX_PARTS) {
    throw new S3Error(
      'InvalidArgument',
      `Part number must be an integer between 1 and ${MAX_PARTS}, not ${partNumber}.`,
    );
  }
  await context.checkSpace(request.size);
  const { record: upload, inBucket } = await getUploadInBucket(context, bucket, key, uploadId);
  if (inBucket.record.quota !== undefined) await checkPart(context, request, inBucket);
  const { sealed } = upload;
  // The bucket may block SSE-C since the upload was created.
  if (sealed?.scheme === 'SSE-C') checkBlocked(sealed.scheme, inBucket.record.encryption);
  const place = { bucket, key, id: uploadId };
  const objectKey =
    openUploadSealed(sealed, place, request.customerKey) ??
    (sealed && (await recoverObjectKey(context, sealed, place)).bytes);
  const received = await receiveBody(context, {
    bucket,
    body: request.body,
    size: request.size,
    digests: digestsOfPart(request.digests, upload, from),
    md5: hasPlainEtag(sealed?.scheme),
    objectKey,
    inlineLimit: -1,
    // Every GET reads the manifest, which may have thousands of parts.
    sumsInRecord: true,
  });
  if (received.stored.kind !== 'blob') throw new Error('a part is always a blob');
  const { blob } = received.stored;
  const digests = digestsOf(context, received, sealed?.scheme);
  let record: PartRecord;
  try {
    const owner = { bucket, id: uploadId, part: partNumber };
    const { etag, checksum } = recordOfDigests(await sealDigests(context, owner, digests, { sealed, objectKey }));
    record = {
      blob,
      size: request.size,
      etag,
      modified: context.clock(),
      protection: received.protection,
      ...(checksum && { checksum }),
    };
    await commitPart(context, request, record, received.stored);
  } catch (error) {
    if (!isStoreError(error, 'outcome-unknown')) await discardBlob(context, blob);
    throw error;
  }
  return { ...partInfo(partNumber, record, digests), ...(sealed && { encryption: shownEncryption(sealed) }) };
}

/** Refuses a part above the quota before its body comes. The commit checks it again. */
async function checkPart(context: ObjectContext, request: PutPart, inBucket: StoredBucket): Promise<void> {
  const { bucket, uploadId, partNumber, size } = request;
  const current = await context.records.get(recordKeys.part(uploadId, partNumber));
  const replaced = current && partOf(current, uploadId, partNumber);
  await checkQuota(context, bucket, inBucket, size - (replaced?.size ?? 0));
}

function partOf({ value }: Entry, uploadId: string, partNumber: number): PartRecord {
  return decodeRecord(value, `part ${partNumber} of upload ${uploadId}`) as PartRecord;
}

/** Stores a part from bytes of an existing object. */
export async function copyPart(
  context: ObjectContext,
  request: Omit<PutPart, 'body' | 'size' | 'digests'> & {
    readonly source: CopySource;
    readonly range?: ByteRange | undefined;
  },
): Promise<PartInfo & CopiedVersion & { readonly encryption?: ObjectEncryption }> {
  const { source, range: asked, ...part } = request;
  const { info, read } = await openSource(context, source);
  const range = sourceRange(asked, info.size);
  const body = bodyFrom(keptChunks(read(range)));
  const copied = await putPart(context, { ...part, body, size: range.end - range.start, digests: {} }, 'copy');
  return { ...copied, ...copiedVersion(info) };
}

function partInfo(partNumber: number, record: PartRecord, { etag, checksum }: Digests): PartInfo {
  return {
    partNumber,
    size: record.size,
    etag,
    lastModified: new Date(record.modified),
    ...(checksum && { checksum }),
  };
}

/** Commits the record of a part. It expects the upload's record, which completion and abort delete: no part is committed after them. */
function commitPart(context: ObjectContext, request: PutPart, record: PartRecord, stored: StoredBlob): Promise<void> {
  const { bucket, key, uploadId, partNumber } = request;
  const partKey = recordKeys.part(uploadId, partNumber);
  const value = encodeRecord(record);
  return commitChange(context, async () => {
    const upload = await getUploadInBucket(context, bucket, key, uploadId);
    const { inBucket } = upload;
    const current = await context.records.get(partKey);
    const replaced = current && partOf(current, uploadId, partNumber);
    const removal = queueRemoval(replaced ? [replaced.blob] : [], context.clock());
    const claimed = await claimBlob(context, stored, { object: uploadId, bucket, key });
    const expect: NonNullable<Batch['expect']> = [
      // A part counts against a quota that the bucket gets at this moment.
      ...guardBucket(bucket, inBucket).expect,
      { kind: 'revision', key: recordKeys.upload(bucket, key, uploadId), revision: upload.revision },
      current ? { kind: 'revision', key: partKey, revision: current.revision } : { kind: 'absent', key: partKey },
      ...claimed.expect,
    ];
    const put = [{ key: partKey, value }, ...claimed.put, ...removal.put];
    const batch = { expect, put, delete: removal.delete };
    if (inBucket.record.quota === undefined) return { batch, result: undefined };
    const add = [{ key: recordKeys.partCommits(uploadId), delta: 1n }];
    const delta = record.size - (replaced?.size ?? 0);
    return { batch: await countBytes(context, request, inBucket, delta, { ...batch, add }), result: undefined };
  });
}

/**
 * Selects the digests of a part: the checksum algorithm of the upload is always computed, and no other is accepted. An upload without one
 * takes any, and stores that of S3; but not under a key of the client, which the completion would need. As in
 * S3, a part that a client sends needs its checksum when the upload has a composite one.
 */
function digestsOfPart(digests: ExpectedDigests, upload: UploadRecord, from: 'client' | 'copy'): ExpectedDigests {
  const given = digests.checksum?.algorithm ?? digests.trailing?.algorithm;
  if (upload.checksum === undefined) {
    return upload.sealed?.scheme !== 'SSE-C'
      ? { ...digests, compute: digests.compute ?? DEFAULT_CHECKSUM.algorithm }
      : digests;
  }
  const { algorithm, type } = upload.checksum;
  const isAbsent = given === undefined && from === 'client' && type === 'COMPOSITE';
  if (isAbsent || (given !== undefined && given !== algorithm)) {
    throw new S3Error(
      'InvalidRequest',
      `Checksum Type mismatch occurred, expected checksum Type: ${algorithm.toLowerCase()}, actual checksum Type: ${given?.toLowerCase() ?? 'null'}`,
    );
  }
  return { ...digests, compute: algorithm };
}

/** Lists the parts of an upload. Throws `NoSuchUpload`. */
export async function listParts(context: ObjectContext, request: ListParts): Promise<PartListing> {
  const { bucket, key, uploadId, after, limit, customerKey } = request;
  const { record } = await getUpload(context.records, bucket, key, uploadId);
  const bucketRecord = (await getBucket(context.records, bucket)).record;
  const abortion = shownAbortion(bucketRecord, context.lifecycleDayMs, { key, initiated: record.initiated });
  const shown = { ...shownUpload(record, bucketRecord), ...(abortion && { abortion }) };
  const objectKey = customerKey && openUploadSealed(record.sealed, { bucket, key, id: uploadId }, customerKey);
  const parts: PartInfo[] = [];
  if (limit <= 0) return { ...shown, parts };
  for await (const part of partsOf(context.records, uploadId, { after, limit: limit + 1 })) {
    if (parts.length === limit) return { ...shown, parts, next: parts.at(-1)?.partNumber ?? after };
    const owner = { bucket, id: uploadId, part: part.number };
    const digests = await openDigests(context, owner, digestsOfRecord(part.record), objectKey);
    parts.push(partInfo(part.number, part.record, digests));
  }
  return { ...shown, parts };
}
