import { createHash } from 'node:crypto';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context/context.ts';
import { guardKey } from '../encryption/decide-encryption.ts';
import { comparable } from '../encryption/digests.ts';
import { recoverObjectKey, sealUnder } from '../encryption/object-keys.ts';
import type { ReadConditions, RenameObject } from '../contract/object-layer.ts';
import { countBytes } from '../quota/count-bytes.ts';
import { type RuledEvent, ruledEvent } from '../records/object-event.ts';
import { guardBucket, isObserved } from '../records/bucket-record.ts';
import type { ObjectRecord, SealedKeys } from '../records/object-record.ts';
import { checkObjectKey, recordKeys } from '../records/record-format.ts';
import { type Change, commitChange } from '../commit/commit-change.ts';
import { checkRemovable } from '../versions/object-lock.ts';
import { replaceVersion } from '../versions/replace-version.ts';
import { StoreError } from '../../store/store-error.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import { ownerOf, ownerRecord } from '../records/blob-claims.ts';
import type { VersionPlace } from '../records/version-place.ts';
import { blobsOfObject } from '../versions/remove-object.ts';
import { checkReadConditions } from '../versions/preconditions.ts';
import { refuseDamaged } from '../versions/refuse-damaged.ts';
import { storedObject } from '../records/object-record.ts';
import { checkIdentity } from '../versions/find-version.ts';
import type { Place } from '../versions/place.ts';
import { readPlace, removedBytes } from '../versions/place.ts';
import { joined, moveObject } from '../versions/move-object.ts';

/**
 * Moves an object to another key, in one commit: no reader sees both keys, or none. The body stays where it is. An encrypted object keeps
 * its own key, which is sealed again for the new name.
 */
export async function renameObject(context: ObjectContext, request: RenameObject): Promise<void> {
  const { bucket, from, to } = request;
  checkObjectKey(bucket, from);
  checkObjectKey(bucket, to);
  if (from === to) throw new S3Error('InvalidRequest', 'An object cannot be renamed to its own key.');
  await context.checkSpace(0);
  let attempt = 0;
  await commitChange(context, () => {
    attempt += 1;
    return plan(context, request, attempt);
  });
}

async function plan(context: ObjectContext, request: RenameObject, attempt: number): Promise<Change<void>> {
  const { bucket, from, to, fromConditions, toConditions } = request;
  const target = await readPlace(context, bucket, to, recordKeys.object(bucket, from));
  // The versions of the old key would stay there, and share the body with the object under the new key.
  if (target.stored.record.versioning !== undefined) {
    throw new S3Error(
      'InvalidBucketState',
      'Objects of a bucket with versions cannot be renamed: copy and delete them.',
    );
  }
  // The count may have passed one of the keys, and not the other one.
  if (target.stored.record.quota?.counting === true) {
    throw new S3Error('SlowDown', 'The bucket is counted for its new quota; try again.');
  }
  const receipt = receiptOf(request);
  if (isRepeated(target.current?.record.renamed, receipt)) return { result: undefined };
  const source = storedObject(target.also, bucket, from);
  checkIdentity(target.current?.record, request.onlyTargetId);
  for (const id of request.onlyIds) checkIdentity(source?.record, id);
  if (source === undefined) throw new S3Error('NoSuchKey', undefined, { details: { Key: from } });
  const { renamed: _earlier, ...record } = source.record;
  refuseDamaged({ bucket, key: from, damage: record.damage });
  if (record.restore !== undefined) {
    throw new S3Error(
      'InvalidRequest',
      'An object with a restored copy, or one that is being restored, cannot be renamed: wait until the copy has ended.',
    );
  }
  checkConditions(fromConditions, from, await comparable(context, bucket, record, fromConditions));
  checkConditions(toConditions, to, await comparable(context, bucket, target.current?.record, toConditions));
  checkRemovable(record, context.lockClock.earliest(), false);
  await request.allowTags(record.tags ?? {});
  const sealed = record.sealed && (await sealedFor(context, record.id, record.sealed, request));
  const { kind } = record.body;
  if (kind === 'none') throw new StoreError('unreadable-record', `object ${bucket}/${from} has no body`);
  const replaced = await replaceVersion(context, target, kind);
  const moved = await moveObject(context, { bucket, key: from }, { bucket, key: to }, source, undefined, {
    ...record,
    ...(sealed && { sealed }),
    ...(receipt && { renamed: receipt }),
  });
  const owners = { expect: [], put: await ownersOf(context, { bucket, key: from }, to, record), delete: [] };
  const { expect, ...changes } = joined({ ...guardBucket(bucket, target.stored), delete: [] }, replaced, moved, owners);
  const batch = {
    ...changes,
    expect: [...expect, ...(await guardKey(context, sealed, attempt))],
    // A pass over all objects that has read the new key, and not yet the old one, would miss the object.
    add: [{ key: recordKeys.promotions(bucket), delta: 1n }],
  };
  return {
    batch: await countBytes(context, target, target.stored, -removedBytes(target), batch),
    result: undefined,
    event: isObserved(context, target.stored.record) ? eventsOf(context, request, target, record) : undefined,
  };
}

/** The events of a copy and of a deletion, as clients without renames cause them. */
function eventsOf(
  context: ObjectContext,
  { bucket, from, to, by }: RenameObject,
  { stored }: Pick<Place, 'stored'>,
  record: ObjectRecord,
): readonly RuledEvent[] {
  const happened = { bucket, stored: stored.record, by };
  return [
    ruledEvent(context, { ...happened, names: ['s3:ObjectCreated:Copy'], key: to, record }),
    ruledEvent(context, { ...happened, names: ['s3:ObjectRemoved:Delete'], key: from }),
  ];
}

type Receipt = NonNullable<ObjectRecord['renamed']>;

/**
 * The receipt does not depend on the ETags of conditions. That of an encrypted object is a digest of its content, and a readable digest of
 * it would reveal short contents too.
 */
function receiptOf({ from, clientToken, fromConditions, toConditions }: RenameObject): Receipt | undefined {
  if (clientToken === undefined) return undefined;
  const parameters = JSON.stringify([from, fromConditions, toConditions], (name, value: unknown) =>
    value !== undefined && (name === 'ifMatch' || name === 'ifNoneMatch') ? true : value,
  );
  return { token: clientToken, request: createHash('sha256').update(parameters).digest('base64url') };
}

/** Throws `IdempotencyParameterMismatch`. */
function isRepeated(earlier: Receipt | undefined, receipt: Receipt | undefined): boolean {
  if (earlier === undefined || earlier.token !== receipt?.token) return false;
  if (earlier.request === receipt.request) return true;
  throw new S3Error('IdempotencyParameterMismatch');
}

/** Throws `PreconditionFailed`, also where a read answers `NotModified`, and `NoSuchKey` for If-Match of an absent object. */
function checkConditions(
  conditions: ReadConditions,
  key: string,
  object: { readonly etag: string; readonly modified: number } | undefined,
): void {
  if (object === undefined) {
    if (conditions.ifMatch !== undefined) {
      throw new S3Error('NoSuchKey', undefined, { details: { Key: key } });
    }
    if (conditions.ifModifiedSince === undefined) return;
    throw new S3Error('PreconditionFailed', undefined, { details: { Condition: 'If-Modified-Since' } });
  }
  try {
    checkReadConditions(conditions, object);
  } catch (error) {
    if (!(error instanceof S3Error) || error.code !== 'NotModified') throw error;
    const Condition = conditions.ifNoneMatch === undefined ? 'If-Modified-Since' : 'If-None-Match';
    throw new S3Error('PreconditionFailed', undefined, { details: { Condition }, cause: error });
  }
}

/** Seals the key of the object for its new name, under the named key that it has. */
async function sealedFor(
  context: ObjectContext,
  id: string,
  sealed: SealedKeys,
  { bucket, from, to }: RenameObject,
): Promise<SealedKeys> {
  if (sealed.scheme === 'SSE-C') {
    throw new S3Error(
      'InvalidRequest',
      'An object under the key of a client (SSE-C) cannot be renamed: copy it with its key, and delete it.',
    );
  }
  const { bytes } = await recoverObjectKey(context, sealed, { bucket, key: from, id });
  return sealUnder(context, sealed, { bucket, key: to, id }, bytes);
}

/**
 * Writes the owner records of the blobs again, under the new key, by which compaction finds the object. Their new revisions show a check
 * of the store, which looks for blobs that no object refers to, that the object moved while it read.
 */
async function ownersOf(
  context: ObjectContext,
  place: VersionPlace,
  to: string,
  record: ObjectRecord,
): Promise<BatchChanges['put']> {
  const owner = ownerOf(place.bucket, to, record);
  return (await blobsOfObject(context, place, record)).map((blob) => ownerRecord(blob, owner));
}
