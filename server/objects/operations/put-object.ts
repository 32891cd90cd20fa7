import { isStoreError } from '../../store/store-error.ts';
import { type BucketRecord, countsAcls, guardBucket, isObserved } from '../records/bucket-record.ts';
import { checkObjectKey, recordKeys, encodeBody } from '../records/record-format.ts';
import { ruledEvent, unlessCurrent } from '../records/object-event.ts';
import { commitChange } from '../commit/commit-change.ts';
import { aclOfNew, refusePublic } from '../attributes/object-acl.ts';
import { checkLockOfNew, lockOfNew } from '../versions/object-lock.ts';
import { placeNew } from '../versions/replace-version.ts';
import { checkQuota, countBytes } from '../quota/count-bytes.ts';
import { decideEncryption, hasPlainEtag, guardKey } from '../encryption/decide-encryption.ts';
import { comparable, sealDigests } from '../encryption/digests.ts';
import type { ObjectContext } from '../context/context.ts';
import { shownExpiration } from '../lifecycle/evaluate.ts';
import { makeObjectKey } from '../encryption/object-keys.ts';
import type { ObjectEncryption, ObjectInfo, PutObject } from '../contract/object-layer.ts';
import { receiveUnsized } from '../bodies/receive-unsized.ts';
import { type IncomingBody, type ReceivedBody, receiveInline } from '../bodies/incoming-body.ts';
import { discardBlob, receiveBody } from '../bodies/receive-body.ts';
import { checkNotRemoved } from '../replication/waiting-removal.ts';
import { placeReplica } from '../replication/place-replica.ts';
import { replicaState, type ReplicatedRecord, replicateNew } from '../replication/queue-replication.ts';
import { type Body, encodeObject, objectInfo, type ObjectRecord } from '../records/object-record.ts';
import type { Digests } from '../records/stored-digests.ts';
import { queueTransition } from '../tiers/transition-at-once.ts';
import { claimBlob, ownerOf } from '../records/blob-claims.ts';
import { newId } from '../../store/slot.ts';
import { objectRecordKey } from '../records/version-place.ts';
import type { PlannedQueues } from '../context/event-hub.ts';
import { checkWriteConditions } from '../versions/preconditions.ts';
import { shownVersionId } from '../versions/find-version.ts';
import { checkCurrent, type Place, readPlace, removedBytes } from '../versions/place.ts';

/**
 * Makes the body durable, commits once, and answers. A crash in between leaves a blob that garbage collection removes, and nothing that
 * clients can see.
 */
export async function putObject(context: ObjectContext, request: PutObject): Promise<ObjectInfo> {
  const { bucket, key } = request;
  checkObjectKey(bucket, key);
  const checked = checkSpaceFor(context, request);
  if (checked !== undefined) await checked;
  const place = await readPlace(context, bucket, key);
  await checkBeforeBody(context, request, place);
  const id = newId(context.clock(), context.random);
  const chosen = encryptionOf(context, place.stored.record, request);
  const made = chosen && (await makeObjectKey(context, chosen, { bucket, key, id }));
  const incoming = {
    bucket,
    body: request.body,
    digests: request.digests,
    md5: chosen === undefined || hasPlainEtag(chosen.scheme),
    objectKey: made?.objectKey,
    inlineLimit: context.inlineLimit,
    packed: true,
  };
  const received = await receive(context, incoming, request.size);
  const blob = received.stored.kind === 'blob' ? received.stored.blob : undefined;
  const digests = withSourceEtag(digestsOf(context, received, chosen?.scheme), request.replica);
  try {
    const kept = made
      ? await sealDigests(context, { bucket, id, part: 0 }, digests, made, hasSourceEtag(request))
      : digests;
    const draft = {
      id,
      size: received.size,
      etag: kept.etag,
      headers: request.headers,
      body: bodyOf(received),
      ...(made && { sealed: made.sealed }),
      ...(kept.checksum && { checksum: kept.checksum }),
      ...(request.tags && Object.keys(request.tags).length > 0 && { tags: request.tags }),
    };
    // A large body takes time, in which the object has likely changed: read again. A small one came with its request.
    const { record, versionId, expiration } = await commitObject(
      context,
      request,
      draft,
      received,
      blob === undefined ? place : undefined,
    );
    return objectInfo({ bucket, key, versionId, expiration }, record, digests);
  } catch (error) {
    if (blob !== undefined && !isStoreError(error, 'outcome-unknown')) await discardBlob(context, blob);
    throw error;
  }
}

/** Refuses a request before its body comes. The commit decides again: the bucket and the object may change meanwhile. */
async function checkBeforeBody(context: ObjectContext, request: PutObject, place: Place): Promise<void> {
  const { bucket, key, replica } = request;
  const stored = place.stored.record;
  if (request.conditions !== undefined) await checkConditions(context, request, place);
  if (needsLock(stored, request)) checkLock(context, request, place);
  if (stored.quota !== undefined) await checkQuotaFor(context, request, place);
  // While a large body comes, the sender may get the removal: then it is in no queue any more.
  if (replica !== undefined && bytesOf(request) > context.inlineLimit) {
    await checkNotRemoved(context, { bucket, key, stored }, replica);
  }
  if (needsAcl(stored, request)) await checkAcl(context, request, place);
}

/** The retention of a replica may have ended. */
function checkLock(context: ObjectContext, { lock, replica }: PutObject, { stored }: Place): void {
  checkLockOfNew(stored.record, lock, replica === undefined ? context.lockClock.earliest() : 0);
}

function hasSourceEtag({ replica }: PutObject): boolean {
  return replica?.etag !== undefined;
}

function withSourceEtag(digests: Digests, replica: PutObject['replica']): Digests {
  return replica?.etag === undefined ? digests : { ...digests, etag: replica.etag };
}

/** Throws as `checkWriteConditions`. */
async function checkConditions(
  context: ObjectContext,
  { bucket, key, conditions }: PutObject,
  { current }: Place,
): Promise<void> {
  checkWriteConditions(conditions, await comparable(context, bucket, current?.record, conditions), key);
}

function checkSpaceFor({ checkSpace, inlineLimit }: ObjectContext, request: PutObject) {
  const bytes = bytesOf(request);
  return checkSpace(bytes <= inlineLimit ? 0 : bytes);
}

/** Bytes of the body; the most that a form may have. */
function bytesOf({ size }: Pick<PutObject, 'size'>): number {
  return typeof size === 'number' ? size : size.max;
}

/** The size of a form's file is not known before it ends. */
async function checkQuotaFor(context: ObjectContext, { bucket, size }: PutObject, place: Place): Promise<void> {
  if (typeof size === 'number') await checkQuota(context, bucket, place.stored, size - removedBytes(place));
}

function receive(
  context: ObjectContext,
  incoming: Omit<IncomingBody, 'size'>,
  size: PutObject['size'],
): Promise<ReceivedBody> {
  return typeof size === 'number'
    ? receiveSized(context, { ...incoming, size })
    : receiveUnsized(context, { ...incoming, size });
}

function receiveSized(context: ObjectContext, incoming: IncomingBody): Promise<ReceivedBody> {
  return incoming.size <= incoming.inlineLimit
    ? receiveInline(context.random, incoming)
    : receiveBody(context, incoming);
}

/** `versionId` is what clients see: undefined in a bucket that never had versions. */
interface Committed {
  readonly record: ObjectRecord;
  readonly versionId: string | undefined;
  readonly expiration?: ObjectInfo['expiration'] | undefined;
}

async function commitObject(
  context: ObjectContext,
  request: PutObject,
  draft: Omit<ObjectRecord, 'modified'> & { readonly body: StoredBody },
  { stored }: ReceivedBody,
  place: Place | undefined,
): Promise<Committed> {
  const { bucket, key, conditions, onlyId } = request;
  const inline = stored.kind === 'inline' ? encodeBody(draft.id, stored.bytes) : undefined;
  let known = place;
  let attempt = 0;
  const committed = await commitChange<Committed>(context, async (events) => {
    attempt += 1;
    const found = known ?? (await readPlace(context, bucket, key));
    // Used once: an attempt after a conflict must read again.
    known = undefined;
    checkCurrent(found, onlyId);
    if (conditions !== undefined) await checkConditions(context, request, found);
    const bucketRecord = found.stored.record;
    const placed =
      request.replica === undefined
        ? await placeNew(context, found, draft.body.kind)
        : await placeReplica(context, found, request.replica, draft.body.kind);
    if (placed.kind === 'there') return alreadyThere(placed.record);
    const { version, order, changes: replaced } = placed;
    const { record, queued } = recordOf(context, events, request, found, { ...draft, ...version });
    const guard = guardBucket(bucket, found.stored);
    const keyGuard = record.sealed === undefined ? [] : await guardKey(context, record.sealed, attempt);
    const claimed = stored.kind === 'blob' ? await claimBlob(context, stored, ownerOf(bucket, key, record)) : undefined;
    const object = { key: objectRecordKey({ bucket, key, order }), value: encodeObject(record) };
    const put = [...guard.put, ...replaced.put, ...(claimed?.put ?? []), object];
    if (inline !== undefined) put.push({ key: recordKeys.inline(bucket, key, order), value: inline });
    if (queued !== undefined) put.push(...queued);
    const expect = [...guard.expect, ...keyGuard, ...replaced.expect, ...(claimed?.expect ?? [])];
    const versionId = found.history === 'none' ? undefined : shownVersionId(record);
    const { lifecycle } = found.stored.record;
    if (lifecycle !== undefined) put.push(...queueTransition(context, { bucket, key, lifecycle, record }));
    const expiration = lifecycle && shownExpiration({ lifecycle }, context.lifecycleDayMs, key, record);
    const event = isObserved(context, bucketRecord)
      ? ruledEvent(context, {
          names: [`s3:ObjectCreated:${request.operation ?? 'Put'}`],
          bucket,
          key,
          stored: bucketRecord,
          versionId,
          record,
          ...unlessCurrent(order),
          by: request.writer,
        })
      : undefined;
    const batch = { expect, put, delete: replaced.delete };
    const result = { record, versionId, expiration };
    if (bucketRecord.quota === undefined) return { batch, result, event };
    const delta = record.size - (placed.removedBytes ?? removedBytes(found));
    return { batch: await countBytes(context, request, found.stored, delta, batch), result, event };
  });
  // A replica was there already.
  if (stored.kind === 'blob' && committed.record.id !== draft.id) await discardBlob(context, stored.blob);
  return committed;
}

function alreadyThere(record: ObjectRecord): { readonly result: Committed } {
  return { result: { record, versionId: shownVersionId(record) } };
}

/** Adds the lock, the ACL and the replication state. Most objects have none of them. */
function recordOf(
  context: ObjectContext,
  events: PlannedQueues,
  request: PutObject,
  place: Place,
  draft: ObjectRecord,
): { readonly record: ObjectRecord; readonly queued?: ReplicatedRecord['queued'] } {
  const bucketRecord = place.stored.record;
  const lock = needsLock(bucketRecord, request)
    ? lockOfNew(bucketRecord, request.lock, draft.modified, context.lockClock)
    : undefined;
  const acl = needsAcl(bucketRecord, request) ? aclOfNew(bucketRecord, request.acl, request.writer) : undefined;
  const record: ObjectRecord = { ...draft, ...(lock && { lock }), ...(acl && { acl }) };
  const { replica } = request;
  if (replica !== undefined) return { record: { ...record, replication: replicaState(replica.changed) } };
  return bucketRecord.replication === undefined ? { record } : replicateNew(context, events, place, record);
}

async function checkAcl(context: ObjectContext, { acl, writer }: PutObject, { stored }: Place): Promise<void> {
  await refusePublic(context, acl);
  aclOfNew(stored.record, acl, writer);
}

/** Most buckets have no ACLs, and most requests ask for none. */
function needsAcl(bucket: BucketRecord, { acl }: PutObject): boolean {
  return acl !== undefined || countsAcls(bucket);
}

/** Most buckets have no object lock, and most requests ask for none. */
function needsLock({ objectLock }: BucketRecord, { lock }: PutObject): boolean {
  return lock !== undefined || objectLock !== undefined;
}

/** Returns undefined for a plain object. */
export function encryptionOf(
  context: ObjectContext,
  { encryption: bucketDefault }: BucketRecord,
  { encryption }: Pick<PutObject, 'encryption'>,
) {
  if (encryption === undefined && bucketDefault === undefined && !context.autoEncryption) return undefined;
  return decideEncryption({
    requested: encryption,
    bucketDefault,
    autoEncryption: context.autoEncryption,
    defaultKey: context.keys.defaultKey,
  });
}

type StoredBody = Exclude<Body, { readonly kind: 'none' }>;

/** Clients accept any 32 hexadecimal digits as an ETag that is not the MD5. */
export function digestsOf(
  context: ObjectContext,
  { digests: { md5, checksum } }: ReceivedBody,
  scheme: ObjectEncryption['scheme'] | undefined,
): Digests {
  const etag = md5 !== undefined && (scheme === undefined || hasPlainEtag(scheme)) ? md5 : context.random(16);
  return { etag: etag.toString('hex'), ...(checksum && { checksum }) };
}

export function bodyOf(received: ReceivedBody): StoredBody {
  const { stored, protection } = received;
  return stored.kind === 'inline'
    ? { kind: 'inline', ...protection }
    : { kind: 'blob', blob: stored.blob, ...protection };
}
