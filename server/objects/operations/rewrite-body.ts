import { keptChunks } from '../../streams/chunks.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isStoreError } from '../../store/store-error.ts';
import { bodyFrom } from '../contract/body-source.ts';
import { discardBlob, receiveBody, type ReceivedBody } from '../bodies/receive-body.ts';
import type { ObjectContext } from '../context/context.ts';
import { guardKey } from '../encryption/decide-encryption.ts';
import { openDigests, sealDigests } from '../encryption/digests.ts';
import { makeObjectKey } from '../encryption/object-keys.ts';
import type { ObjectLayer } from '../contract/object-layer.ts';
import { encodeObject, isTiered, type ObjectRecord } from '../records/object-record.ts';
import { encodeBody, recordKeys } from '../records/record-format.ts';
import { commitChange } from '../commit/commit-change.ts';
import { getIntactObject } from './get-object.ts';
import { bodyOf } from './put-object.ts';
import { claimBlob, ownerOf } from '../records/blob-claims.ts';
import { newId } from '../../store/slot.ts';
import { objectRecordKey } from '../records/version-place.ts';
import { removeObject } from '../versions/remove-object.ts';
import { readVersionRecord } from '../versions/find-version.ts';

type RewriteBody = Parameters<ObjectLayer['rewriteBody']>[0];

/**
 * Encrypts the body of a version again, under a new object key below the named key. Everything that clients see stays: version, time, ETag,
 * checksum, tags and lock; but a multipart object becomes one body. A locked version may be written so, since its content is compared with
 * its checksum blocks. Returns false for a plain object, for one under a client's key, and where the version was replaced or deleted.
 */
export async function rewriteBody(
  context: ObjectContext,
  { bucket, key, versionId, keyName }: RewriteBody,
): Promise<boolean> {
  const { record } = (await readVersionRecord(context, bucket, key, versionId)).stored;
  const { sealed, size } = record;
  if (sealed === undefined || sealed.scheme === 'SSE-C') return false;
  const { info, read } = await getIntactObject(context, bucket, key, { versionId });
  if (info.size !== size || info.lastModified.getTime() !== record.modified) return false;
  const id = newId(context.clock(), context.random);
  const { scheme, context: clientContext, bucketKey } = sealed;
  const chosen = {
    scheme,
    keyName,
    ...(clientContext && { context: clientContext }),
    ...(bucketKey !== undefined && { bucketKey }),
  };
  const made = await makeObjectKey(context, chosen, { bucket, key, id });
  const digests = await openDigests(context, { bucket, id: record.id, part: 0 }, record);
  // A sealed ETag of SSE-KMS is that of a source, and not random.
  const isSealed = typeof record.etag !== 'string';
  const kept = await sealDigests(context, { bucket, id, part: 0 }, digests, made, isSealed);
  const received = await receiveBody(context, {
    bucket,
    body: bodyFrom(keptChunks(read({ start: 0, end: size }))),
    size,
    digests: {},
    md5: false,
    objectKey: made.objectKey,
    inlineLimit: context.inlineLimit,
    packed: true,
  });
  const written: Written = { id, sealed: made.sealed, etag: kept.etag, checksum: kept.checksum, received };
  const blob = received.stored.kind === 'blob' ? received.stored.blob : undefined;
  try {
    const replaced = await commitBody(context, { bucket, key, versionId }, record.id, written);
    if (!replaced && blob !== undefined) await discardBlob(context, blob);
    return replaced;
  } catch (error) {
    if (blob !== undefined && !isStoreError(error, 'outcome-unknown')) await discardBlob(context, blob);
    if (error instanceof S3Error && (error.code === 'NoSuchKey' || error.code === 'NoSuchVersion')) return false;
    throw error;
  }
}

interface Written extends Pick<ObjectRecord, 'id' | 'sealed' | 'etag' | 'checksum'> {
  readonly received: ReceivedBody;
}

/** Replaces the body of the object with the id `was`. Its tags and its lock may have changed meanwhile, and its place. */
function commitBody(
  context: ObjectContext,
  { bucket, key, versionId }: Omit<RewriteBody, 'keyName'>,
  was: string,
  { received, checksum, ...written }: Written,
): Promise<boolean> {
  let attempt = 0;
  return commitChange(context, async () => {
    attempt += 1;
    const { stored, order } = await readVersionRecord(context, bucket, key, versionId);
    if (stored.record.id !== was) return { result: false };
    const place = { bucket, key, order };
    const { checksum: _before, restore: _copy, headers, ...unchanged } = stored.record;
    // A body that was in a tier is here again. The next walk moves it.
    const { storageClass: _tier, ...kept } = headers;
    const record = {
      ...unchanged,
      headers: isTiered(stored.record) ? kept : headers,
      ...written,
      ...(checksum && { checksum }),
      body: bodyOf(received),
    };
    const removed = await removeObject(context, place, stored, record.body.kind);
    const content = received.stored;
    const claimed =
      content.kind === 'blob'
        ? await claimBlob(context, content, ownerOf(bucket, key, record))
        : { expect: [], put: [] };
    const put = [...removed.put, ...claimed.put, { key: objectRecordKey(place), value: encodeObject(record) }];
    if (content.kind === 'inline') {
      put.push({ key: recordKeys.inline(bucket, key, order), value: encodeBody(record.id, content.bytes) });
    }
    const expect = [...removed.expect, ...claimed.expect, ...(await guardKey(context, written.sealed, attempt))];
    return { batch: { expect, put, delete: removed.delete }, result: true };
  });
}
