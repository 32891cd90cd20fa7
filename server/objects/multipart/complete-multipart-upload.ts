import { crc32 } from 'node:zlib';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { type BucketRecord, guardBucket, getBucket, isObserved, type StoredBucket } from '../records/bucket-record.ts';
import { ruledEvent, unlessCurrent } from '../records/object-event.ts';
import { type Change, commitChange } from '../commit/commit-change.ts';
import { lockOfNew } from '../versions/object-lock.ts';
import { placeNew } from '../versions/replace-version.ts';
import { placeReplica, type ReplicaPlace } from '../replication/place-replica.ts';
import { replicaState, type ReplicatedRecord, replicateNew } from '../replication/queue-replication.ts';
import { openUploadSealed } from '../encryption/customer-keys.ts';
import { checkBlocked } from '../encryption/decide-encryption.ts';
import { comparable, openDigests, sealDigests } from '../encryption/digests.ts';
import type { ObjectContext } from '../context/context.ts';
import { countBytes } from '../quota/count-bytes.ts';
import { uploadBytes } from '../quota/upload-bytes.ts';
import { shownExpiration } from '../lifecycle/evaluate.ts';
import type { CompleteMultipartUpload, ObjectInfo } from '../contract/object-layer.ts';
import {
  arePlain,
  encodeObject,
  objectInfo,
  type ObjectRecord,
  type SealedKeys,
  shownLock,
} from '../records/object-record.ts';
import { encodeManifest, type ManifestPart } from '../records/body-records.ts';
import { encodeBody } from '../records/record-format.ts';
import { recordKeys } from '../records/record-format.ts';
import type { StoredChecksum } from '../records/stored-digests.ts';
import {
  decodeUpload,
  digestsOfRecord,
  endUpload,
  findUpload,
  noSuchUpload,
  partsOf,
  type StoredUpload,
  type UploadRecord,
  uploadRecordKey,
  sourceEtag,
} from '../records/upload-record.ts';
import {
  checkChecksumMode,
  checksumOfParts,
  checkWholeObject,
  chooseParts,
  etagOfParts,
  type OpenedPart,
} from './choose-parts.ts';
import { type EndedUploads, endOtherUploads, noUploads } from '../replication/end-other-uploads.ts';
import { queueTransition } from '../tiers/transition-at-once.ts';
import { StoreError } from '../../store/store-error.ts';
import { objectRecordKey } from '../records/version-place.ts';
import { readManifest } from '../records/manifest.ts';
import type { PlannedQueues } from '../context/event-hub.ts';
import { checkWriteConditions } from '../versions/preconditions.ts';
import { shownVersionId } from '../versions/find-version.ts';
import { joined } from '../versions/move-object.ts';
import { checkCurrent, type Place, readPlace, removedBytes } from '../versions/place.ts';

/**
 * Writes a manifest of the parts; no byte is copied. Garbage collection removes parts that are not listed. A repeated request gets the
 * same answer.
 */
export async function completeMultipartUpload(
  context: ObjectContext,
  request: CompleteMultipartUpload,
): Promise<ObjectInfo> {
  await context.checkSpace(0);
  return commitChange(context, (events) => plan(context, events, request));
}

async function plan(
  context: ObjectContext,
  events: PlannedQueues,
  request: CompleteMultipartUpload,
): Promise<Change<ObjectInfo>> {
  const { bucket, key, uploadId } = request;
  const { place, upload } = await readAtOnce(context, request);
  const { stored, current, history } = place;
  // Only the completion of this upload creates an object with its id: the request was repeated, or another one completed the upload.
  if (current?.record.id === uploadId) {
    return completedBefore(context, request, current.record, stored.record);
  }
  if (upload === undefined) throw noSuchUpload(uploadId);
  checkCurrent(place, request.onlyId);
  checkBlocked(upload.record.sealed?.scheme, stored.record.encryption);
  checkWriteConditions(request.conditions, await comparable(context, bucket, current?.record, request.conditions), key);
  checkChecksumMode(upload.record.checksum, request);
  const { sealed } = upload.record;
  const objectKey = ownKey(request, sealed);
  const parts = await listedParts(context, request, upload, objectKey);
  const checksum = checksumOfParts(upload.record.checksum, parts);
  const size = parts.reduce((sum, part) => sum + part.record.size, 0);
  checkWholeObject(request, { size, checksum });
  const manifest = manifestOf(parts);
  const etag = etagOfParts(parts.map((part) => part.digests.etag));
  const { replica: source } = upload.record;
  const owner = { bucket, id: uploadId, part: 0 };
  const given = sourceEtag(source);
  const ofSource = given === undefined ? undefined : await openDigests(context, owner, { etag: given });
  const digests = { etag: ofSource?.etag ?? etag, ...(checksum && { checksum }) };
  const kept = await sealDigests(context, owner, digests, { sealed, objectKey }, ofSource !== undefined);
  const placed = await placeUpload(context, place, source);
  if (placed.kind === 'there') return endReplica(context, request, upload, place, placed.record);
  const { version, order, changes: replaced } = placed;
  const { record, queued } = recordOfUpload(context, events, place, upload.record, {
    id: uploadId,
    ...version,
    size,
    etag: kept.etag,
    headers: upload.record.headers,
    body: { kind: 'parts', count: parts.length, crc: crc32(manifest) },
    ...(kept.checksum && { checksum: kept.checksum }),
  });
  const recordKey = recordKeys.upload(bucket, key, uploadId);
  const guard = guardBucket(bucket, stored);
  const ended = endUpload({ recordKey, uploadId });
  const uploaded = stored.record.quota === undefined ? undefined : await uploadBytes(context, uploadId);
  const others = await otherUploads(context, request, stored, source);
  const batch = {
    expect: [
      ...(uploaded?.expect ?? []),
      ...guard.expect,
      ...replaced.expect,
      ...others.changes.expect,
      { kind: 'revision' as const, key: recordKey, revision: upload.revision },
      // A part that is uploaded again at this moment has another blob: the old one is queued for removal.
      ...parts.map((part) => ({ kind: 'revision' as const, key: part.key, revision: part.revision })),
    ],
    put: [
      ...guard.put,
      ...replaced.put,
      ...ended.put,
      ...others.changes.put,
      { key: objectRecordKey({ bucket, key, order }), value: encodeObject(record) },
      { key: recordKeys.manifest(bucket, key, order), value: encodeBody(uploadId, manifest) },
      ...queued,
      ...queueTransition(context, { bucket, key, lifecycle: stored.record.lifecycle, record }),
    ],
    delete: [...replaced.delete, ...ended.delete, ...others.changes.delete, ...parts.map((part) => part.key)],
  };
  // The bytes of parts that are not listed become free.
  const delta = size - (uploaded?.bytes ?? 0) - others.bytes - (placed.removedBytes ?? removedBytes(place));
  const versionId = history === 'none' ? undefined : shownVersionId(record);
  const names = ['s3:ObjectCreated:CompleteMultipartUpload'];
  return {
    event: isObserved(context, stored.record)
      ? ruledEvent(context, {
          names,
          bucket,
          key,
          stored: stored.record,
          versionId,
          record,
          ...unlessCurrent(order),
          by: request.by,
        })
      : undefined,
    batch: await countBytes(context, request, stored, delta, batch),
    leftUploads: others.left,
    result: objectInfo(
      {
        bucket,
        key,
        versionId,
        expiration: shownExpiration(stored.record, context.lifecycleDayMs, key, record),
      },
      record,
      digests,
    ),
  };
}

/** A client may have several uploads of a key, and each is a version. */
async function otherUploads(
  context: ObjectContext,
  { bucket, key, uploadId }: Pick<CompleteMultipartUpload, 'bucket' | 'key' | 'uploadId'>,
  stored: StoredBucket,
  source: UploadRecord['replica'],
): Promise<EndedUploads> {
  if (source === undefined) return noUploads;
  return endOtherUploads(context, { bucket, key, stored }, source, uploadId);
}

function placeUpload(context: ObjectContext, place: Place, source: UploadRecord['replica']): Promise<ReplicaPlace> {
  if (source === undefined) return placeNew(context, place, 'parts');
  return placeReplica(context, place, { ...source, modified: new Date(source.modified) }, 'parts');
}

/** Adds what the request that began the upload asked for, and the replication state. */
function recordOfUpload(
  context: ObjectContext,
  events: PlannedQueues,
  place: Place,
  { sealed, tags, lock: asked, acl, replica }: UploadRecord,
  draft: ObjectRecord,
): ReplicatedRecord {
  const lock = lockOfNew(place.stored.record, asked && shownLock(asked), draft.modified, context.lockClock);
  const record: ObjectRecord = {
    ...draft,
    ...(sealed && { sealed }),
    ...(tags && { tags }),
    ...(lock && { lock }),
    ...(acl && { acl }),
  };
  if (replica === undefined) return replicateNew(context, events, place, record);
  return { record: { ...record, replication: replicaState(dateOf(replica.changed)) }, queued: [] };
}

function dateOf(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time);
}

/** Ends the upload of a replica that is there already. Garbage collection removes its parts. */
async function endReplica(
  context: ObjectContext,
  { bucket, key, uploadId }: CompleteMultipartUpload,
  upload: StoredUpload,
  { stored }: Pick<Place, 'stored'>,
  record: ObjectRecord,
): Promise<Change<ObjectInfo>> {
  const recordKey = recordKeys.upload(bucket, key, uploadId);
  const expect = [
    { kind: 'revision' as const, key: recordKey, revision: upload.revision },
    ...guardBucket(bucket, stored).expect,
  ];
  const uploaded = stored.record.quota === undefined ? undefined : await uploadBytes(context, uploadId);
  const others = await otherUploads(context, { bucket, key, uploadId }, stored, upload.record.replica);
  const batch = joined(
    { ...endUpload({ recordKey, uploadId }), expect: [...expect, ...(uploaded?.expect ?? [])] },
    others.changes,
  );
  const digests = await openDigests(context, { bucket, id: record.id, part: 0 }, record);
  return {
    batch: await countBytes(context, { bucket, key }, stored, -(uploaded?.bytes ?? 0) - others.bytes, batch),
    leftUploads: others.left,
    result: objectInfo({ bucket, key, versionId: shownVersionId(record) }, record, digests),
  };
}

/** Reads the bucket, the current object, and the upload at one moment. Throws `NoSuchBucket`. */
async function readAtOnce(context: ObjectContext, { bucket, key, uploadId }: CompleteMultipartUpload) {
  const upload = uploadRecordKey(bucket, key, uploadId);
  if (upload === undefined) {
    await getBucket(context.records, bucket);
    throw noSuchUpload(uploadId);
  }
  const place = await readPlace(context, bucket, key, upload);
  const { also } = place;
  return { place, upload: also && { record: decodeUpload(also.value, uploadId), revision: also.revision } };
}

/** Repeats the answer for a request that lists the same parts. Throws `NoSuchUpload` for other parts. */
async function completedBefore(
  context: ObjectContext,
  request: CompleteMultipartUpload,
  record: ObjectRecord,
  bucketRecord: BucketRecord,
): Promise<Change<ObjectInfo>> {
  const { bucket, key, uploadId, parts } = request;
  const manifest = await readManifest(context, { bucket, key }, record);
  if (manifest === undefined) throw new StoreError('changed', 'the records changed meanwhile');
  const sameNumbers =
    manifest.length === parts.length && manifest.every(({ number }, index) => number === parts[index]?.partNumber);
  const objectKey = ownKey(request, record.sealed);
  const digests = await openDigests(context, { bucket, id: uploadId, part: 0 }, record, objectKey);
  if (!sameNumbers || etagOfParts(parts.map(({ etag }) => etag)) !== digests.etag) throw noSuchUpload(uploadId);
  checkWholeObject(request, { size: record.size, checksum: digests.checksum });
  const versionId = bucketRecord.versioning === undefined ? undefined : shownVersionId(record);
  const expiration = shownExpiration(bucketRecord, context.lifecycleDayMs, key, record);
  return { result: objectInfo({ bucket, key, versionId, expiration }, record, digests) };
}

/**
 * Reads the parts that the request lists. A concurrent completion or abort removes parts, and a request must not be refused for that:
 * an error of the parts counts only while the upload exists.
 */
async function listedParts(
  context: ObjectContext,
  { bucket, key, uploadId, parts }: CompleteMultipartUpload,
  upload: StoredUpload,
  objectKey: Buffer | undefined,
): Promise<readonly OpenedPart[]> {
  const { records } = context;
  const uploaded = new Map<number, OpenedPart>();
  for await (const part of partsOf(records, uploadId)) {
    const kept = digestsOfRecord(part.record);
    const owner = { bucket, id: uploadId, part: part.number };
    const digests = arePlain(kept) ? kept : await openDigests(context, owner, kept, objectKey);
    uploaded.set(part.number, { ...part, digests });
  }
  try {
    if (upload.record.checksum !== undefined || parts.some(({ checksum }) => checksum !== undefined)) {
      checkOpened(uploaded);
    }
    return chooseParts(uploadId, parts, uploaded);
  } catch (error) {
    const still = await findUpload(records, bucket, key, uploadId);
    if (still?.revision !== upload.revision) throw new StoreError('changed', 'the upload ended', { cause: error });
    throw error;
  }
}

function manifestOf(parts: readonly OpenedPart[]): Buffer {
  return encodeManifest(
    parts.map(({ number, record }) => ({
      number,
      blob: record.blob,
      size: record.size,
      protection: record.protection,
      ...(record.checksum && { checksum: checksumInManifest(record.checksum) }),
    })),
  );
}

function checksumInManifest(checksum: StoredChecksum): NonNullable<ManifestPart['checksum']> {
  return 'value' in checksum ? checksum.value : { sealed: checksum.sealed };
}

/** Opens the object's own key, where the request has the client's key that seals it. Throws `InvalidRequest` for another key. */
function ownKey(
  { bucket, key, uploadId, customerKey }: CompleteMultipartUpload,
  sealed: SealedKeys | undefined,
): Buffer | undefined {
  return customerKey && openUploadSealed(sealed, { bucket, key, id: uploadId }, customerKey);
}

/**
 * Checks that all checksums of parts are open: the checksum of the object needs them, and a client's key may seal them. Then the client
 * must send that key here too.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html, SSECustomerKey
 */
function checkOpened(uploaded: ReadonlyMap<number, OpenedPart>): void {
  for (const { record, digests } of uploaded.values()) {
    if (record.checksum === undefined || digests.checksum !== undefined) continue;
    throw new S3Error(
      'InvalidRequest',
      'The upload has checksums under Server Side Encryption with Customer provided keys. The correct parameters must be provided to complete it.',
    );
  }
}
