import { type Acl, ownerId, type RequestedAcl } from '../../../protocol/s3/acl.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ByCaller, EventCaller } from '../contract/event-caller.ts';
import { ruledEvent, unlessCurrent } from '../records/object-event.ts';
import type { ObjectLock, ObjectTags, PutRetention, VersionOptions, VersionResult } from '../contract/object-layer.ts';
import { type BucketRecord, countsAcls, getBucket, isObserved } from '../records/bucket-record.ts';
import { encodeObject, type ObjectRecord, shownLock } from '../records/object-record.ts';
import { commitChange } from '../commit/commit-change.ts';
import { allowedAcl, checkUncounted, refusePublic, shownAcl, storedAcl } from './object-acl.ts';
import { replicateAttributes } from '../replication/queue-replication.ts';
import { withChanges } from '../records/attribute-changes.ts';
import { type Attribute, changesOf } from '../records/change-times.ts';
import { checkRetentionChange } from '../versions/object-lock.ts';
import { objectRecordKey } from '../records/version-place.ts';
import { checkIdentity, readVersionRecord, shownVersionId } from '../versions/find-version.ts';

interface Version extends VersionOptions {
  readonly bucket: string;
  readonly key: string;
  readonly by: EventCaller | undefined;
  /** The names of the event. */
  readonly names: readonly string[];
  /** The attribute that the client sets. Set again it is newer than an older change on another server, also where its value stays. */
  readonly sets?: Attribute | undefined;
  /** The change is not replicated. */
  readonly stays?: true;
}

/** Changes fields of an object's record in place: its body and its time stay. Throws as `readVersionRecord`. */
export function updateObject(
  context: ObjectContext,
  { bucket, key, versionId, onlyId, by, names, sets, stays }: Version,
  change: (record: ObjectRecord, bucket: BucketRecord) => ObjectRecord,
): Promise<VersionResult> {
  return commitChange(context, async (events) => {
    const { stored, order } = await readVersionRecord(context, bucket, key, versionId);
    checkIdentity(stored.record, onlyId);
    const bucketRecord = (await getBucket(context.records, bucket)).record;
    const recordKey = objectRecordKey({ bucket, key, order });
    const after = change(stored.record, bucketRecord);
    const dated =
      stays === true || after === stored.record || bucketRecord.versioning === undefined
        ? after
        : withChanges(stored.record, after, context.clock(), sets);
    const changed = dated === after || (await keepsTimes(context, stored.record)) ? dated : after;
    const replicated =
      bucketRecord.replication === undefined || stays === true || changed === stored.record
        ? undefined
        : replicateAttributes(context, events, {
            bucket,
            key,
            stored: bucketRecord,
            record: changed,
            times: changesOf(dated),
          });
    const record = replicated?.record ?? changed;
    const value = encodeObject(record);
    const shownId = shownVersionId(record);
    return {
      batch: {
        expect: [{ kind: 'revision', key: recordKey, revision: stored.revision }],
        put: [{ key: recordKey, value }, ...(replicated?.queued ?? [])],
      },
      result: bucketRecord.versioning === undefined ? {} : { versionId: shownId },
      event: isObserved(context, bucketRecord)
        ? ruledEvent(context, {
            names,
            bucket,
            key,
            stored: bucketRecord,
            versionId: shownId,
            record,
            ...unlessCurrent(order),
            by,
          })
        : undefined,
    };
  });
}

/** Reports whether a record gets the times of its changes: every server of the deployment must read them. One that has times keeps them up to date. */
async function keepsTimes({ written }: ObjectContext, { changes }: ObjectRecord): Promise<boolean> {
  return changes !== undefined || (await written.isNewest());
}

export async function getObjectTags(
  context: ObjectContext,
  bucket: string,
  key: string,
  versionId?: string,
  onlyId?: string,
): Promise<VersionResult & { readonly tags: ObjectTags }> {
  const { stored } = await readVersionRecord(context, bucket, key, versionId);
  checkIdentity(stored.record, onlyId);
  const { versioning } = (await getBucket(context.records, bucket)).record;
  const { tags = {} } = stored.record;
  return versioning === undefined ? { tags } : { tags, versionId: shownVersionId(stored.record) };
}

/** Replaces the tags; `{}` removes them. */
export function putObjectTags(
  context: ObjectContext,
  bucket: string,
  key: string,
  tags: ObjectTags,
  versionId?: string,
  onlyId?: string,
  by?: EventCaller,
): Promise<VersionResult> {
  const isEmpty = Object.keys(tags).length === 0;
  const names = isEmpty
    ? ['s3:ObjectTagging:Delete', 's3:ObjectCreated:DeleteTagging']
    : ['s3:ObjectTagging:Put', 's3:ObjectCreated:PutTagging'];
  const version = { bucket, key, versionId, onlyId, by, names, sets: 'tags' } as const;
  return updateObject(context, version, ({ tags: _tags, ...record }) => (isEmpty ? record : { ...record, tags }));
}

export async function getObjectAcl(
  context: ObjectContext,
  bucket: string,
  key: string,
  { versionId, onlyId }: VersionOptions = {},
): Promise<Acl & VersionResult> {
  const { stored } = await readVersionRecord(context, bucket, key, versionId);
  checkIdentity(stored.record, onlyId);
  const { record } = await getBucket(context.records, bucket);
  const acl = shownAcl(record, stored.record.acl);
  return record.versioning === undefined ? acl : { ...acl, versionId: shownVersionId(stored.record) };
}

/** The owner stays. */
export async function putObjectAcl(
  context: ObjectContext,
  bucket: string,
  key: string,
  requested: RequestedAcl,
  { versionId, onlyId, by }: VersionOptions & ByCaller = {},
): Promise<VersionResult> {
  await refusePublic(context, requested);
  const names = ['s3:ObjectAcl:Put'];
  // The accounts of the other side are others.
  return updateObject(context, { bucket, key, versionId, onlyId, by, names, stays: true }, (record, bucketRecord) => {
    if (!countsAcls(bucketRecord)) {
      checkUncounted(requested);
      return record;
    }
    const { acl: current, ...rest } = record;
    const acl = storedAcl(allowedAcl(bucketRecord, requested, current?.owner ?? ownerId));
    return acl === undefined ? rest : { ...rest, acl };
  });
}

/** Throws `InvalidRequest` for a bucket without object lock. */
export async function getObjectLock(
  context: ObjectContext,
  bucket: string,
  key: string,
  versionId?: string,
  onlyId?: string,
): Promise<ObjectLock> {
  const { stored } = await readVersionRecord(context, bucket, key, versionId);
  checkIdentity(stored.record, onlyId);
  requireObjectLock((await getBucket(context.records, bucket)).record);
  return shownLock(stored.record.lock ?? {});
}

export function putObjectRetention(
  context: ObjectContext,
  bucket: string,
  key: string,
  { versionId, onlyId, retention, bypassGovernance, by }: PutRetention,
): Promise<VersionResult> {
  const names = ['s3:ObjectCreated:PutRetention'];
  const sets = retention && 'retention';
  return updateObject(context, { bucket, key, versionId, onlyId, by, names, sets }, (record, bucketRecord) => {
    requireObjectLock(bucketRecord);
    checkRetentionChange(record, retention, { now: context.lockClock.earliest(), bypassGovernance });
    const { mode: _mode, until: _until, ...kept } = record.lock ?? {};
    return withLock(record, {
      ...kept,
      ...(retention && { mode: retention.mode, until: retention.until.getTime() }),
    });
  });
}

export function putObjectLegalHold(
  context: ObjectContext,
  bucket: string,
  key: string,
  { versionId, onlyId, legalHold, by }: VersionOptions & ByCaller & { readonly legalHold: boolean },
): Promise<VersionResult> {
  const names = ['s3:ObjectCreated:PutLegalHold'];
  const sets = legalHold ? 'legalHold' : undefined;
  return updateObject(context, { bucket, key, versionId, onlyId, by, names, sets }, (record, bucketRecord) => {
    requireObjectLock(bucketRecord);
    return withLock(record, { ...record.lock, legalHold });
  });
}

function withLock({ lock: _lock, ...record }: ObjectRecord, lock: NonNullable<ObjectRecord['lock']>): ObjectRecord {
  return Object.keys(lock).length === 0 ? record : { ...record, lock };
}

function requireObjectLock({ objectLock }: BucketRecord): void {
  if (objectLock === undefined) throw new S3Error('InvalidRequest', 'Bucket is missing Object Lock Configuration');
}
