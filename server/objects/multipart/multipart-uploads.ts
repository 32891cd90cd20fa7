import { checkNotRemoved } from '../replication/waiting-removal.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { newSlottedId } from '../../store/slot.ts';
import { guardBucket, getBucket } from '../records/bucket-record.ts';
import { checkObjectKey, recordKeys, encodeRecord } from '../records/record-format.ts';
import { commitChange } from '../commit/commit-change.ts';
import { aclOfNew, refusePublic } from '../attributes/object-acl.ts';
import { checkLockOfNew } from '../versions/object-lock.ts';
import { isCrc } from '../checksums/combine-crc.ts';
import { decideEncryption, guardKey } from '../encryption/decide-encryption.ts';
import type { ObjectContext } from '../context/context.ts';
import { countBytes } from '../quota/count-bytes.ts';
import { uploadBytes } from '../quota/upload-bytes.ts';
import { shownAbortion } from '../lifecycle/evaluate.ts';
import { sealDigests } from '../encryption/digests.ts';
import { makeObjectKey } from '../encryption/object-keys.ts';
import type { CreateMultipartUpload, ObjectEncryption, Replica } from '../contract/object-layer.ts';
import { shownEncryption, storedLock } from '../records/object-record.ts';
import { storedReplica, type UploadRecord, endUpload, getUpload, getUploadInBucket } from '../records/upload-record.ts';
import type { CustomerKey } from '../../encryption/object-key.ts';
import { openUploadSealed } from '../encryption/customer-keys.ts';

/** Creates an upload. Its encryption is decided here: the keys of all parts are derived from its object key. */
export async function createMultipartUpload(
  context: ObjectContext,
  request: CreateMultipartUpload,
): Promise<{ readonly uploadId: string; readonly encryption?: ObjectEncryption }> {
  const { bucket, key, headers, checksum } = request;
  checkObjectKey(bucket, key);
  checkChecksumType(checksum);
  await context.checkSpace(0);
  await refusePublic(context, request.acl);
  const { record: bucketRecord } = await getBucket(context.records, bucket);
  const now = context.clock();
  // The retention of a replica may have ended.
  checkLockOfNew(bucketRecord, request.lock, request.replica === undefined ? context.lockClock.earliest() : 0);
  if (request.replica !== undefined) {
    await checkNotRemoved(context, { bucket, key, stored: bucketRecord }, request.replica);
  }
  const acl = aclOfNew(bucketRecord, request.acl, request.writer);
  const uploadId = newSlottedId(bucket, now, context.random);
  const chosen = decideEncryption({
    requested: request.encryption,
    bucketDefault: bucketRecord.encryption,
    autoEncryption: context.autoEncryption,
    defaultKey: context.keys.defaultKey,
  });
  const made = chosen && (await makeObjectKey(context, chosen, { bucket, key, id: uploadId }));
  const replica = request.replica && (await replicaOfUpload(context, { bucket, id: uploadId }, request.replica, made));
  const record: UploadRecord = {
    initiated: context.clock(),
    headers,
    ...(made && { sealed: made.sealed }),
    ...(checksum && { checksum }),
    ...(request.tags && { tags: request.tags }),
    ...(request.lock && { lock: storedLock(request.lock) }),
    ...(acl && { acl }),
    ...(replica && { replica }),
  };
  const upload = { key: recordKeys.upload(bucket, key, uploadId), value: encodeRecord(record) };
  let attempt = 0;
  await commitChange(context, async () => {
    attempt += 1;
    const guard = guardBucket(bucket, await getBucket(context.records, bucket));
    const keyGuard = await guardKey(context, record.sealed, attempt);
    return { batch: { expect: [...guard.expect, ...keyGuard], put: [...guard.put, upload] }, result: undefined };
  });
  const abortion = shownAbortion(bucketRecord, context.lifecycleDayMs, { key, initiated: record.initiated });
  return { uploadId, ...(made && { encryption: shownEncryption(made.sealed) }), ...(abortion && { abortion }) };
}

/** Seals the ETag of the source where the upload is encrypted. */
async function replicaOfUpload(
  context: ObjectContext,
  { bucket, id }: { readonly bucket: string; readonly id: string },
  replica: Replica,
  made: Awaited<ReturnType<typeof makeObjectKey>> | undefined,
): Promise<UploadRecord['replica']> {
  const { etag } = replica;
  if (etag === undefined || made === undefined) return storedReplica(replica, etag);
  return storedReplica(replica, (await sealDigests(context, { bucket, id, part: 0 }, { etag }, made, true)).etag);
}

/**
 * CRCs of parts combine to that of the object; CRC64NVME is only so. All others are the checksum of the checksums of the parts.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
 */
function checkChecksumType(checksum: CreateMultipartUpload['checksum']): void {
  if (checksum === undefined) return;
  const { algorithm, type } = checksum;
  if (type === 'FULL_OBJECT' ? isCrc(algorithm) : algorithm !== 'CRC64NVME') return;
  throw new S3Error(
    'InvalidRequest',
    `The ${type} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
  );
}

/** Aborts an upload, also below the reserve of free space. Throws `NoSuchUpload`, also when the upload was completed. */
export function abortMultipartUpload(
  context: ObjectContext,
  bucket: string,
  key: string,
  uploadId: string,
): Promise<void> {
  return commitChange(context, async () => {
    const { revision, inBucket } = await getUploadInBucket(context, bucket, key, uploadId);
    const recordKey = recordKeys.upload(bucket, key, uploadId);
    const expect = [{ kind: 'revision' as const, key: recordKey, revision }, ...guardBucket(bucket, inBucket).expect];
    const ended = endUpload({ recordKey, uploadId });
    if (inBucket.record.quota === undefined) return { batch: { expect, ...ended }, result: undefined };
    const uploaded = await uploadBytes(context, uploadId);
    const batch = { expect: [...expect, ...uploaded.expect], ...ended };
    return { batch: await countBytes(context, { bucket, key }, inBucket, -uploaded.bytes, batch), result: undefined };
  });
}

/** Returns the encryption of an upload. Throws `NoSuchUpload`, and `InvalidRequest` where `customerKey` is not that of the upload. */
export async function uploadEncryption(
  context: ObjectContext,
  bucket: string,
  key: string,
  uploadId: string,
  customerKey?: CustomerKey,
): Promise<ObjectEncryption | undefined> {
  const { record } = await getUpload(context.records, bucket, key, uploadId);
  if (customerKey !== undefined) openUploadSealed(record.sealed, { bucket, key, id: uploadId }, customerKey);
  return record.sealed && shownEncryption(record.sealed);
}
