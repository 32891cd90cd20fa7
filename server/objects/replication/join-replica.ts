import { isDeepStrictEqual } from 'node:util';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { millisecondsAt } from '../contract/instant.ts';
import type { ReplicaAttributes, ReplicaRights } from '../contract/object-layer.ts';
import { withTimes } from '../records/attribute-changes.ts';
import { changesOf } from '../records/change-times.ts';
import { type ObjectRecord, shownLock, storedLock } from '../records/object-record.ts';
import { isRetentionWeaker } from '../versions/object-lock.ts';
import { type DatedAttributes, joinAttributes, outlasting } from './join-attributes.ts';

type Arriving = Pick<ReplicaAttributes, 'modified' | 'headers' | 'tags' | 'lock' | 'changes' | 'may'>;

/**
 * Returns a version with the attributes that it and a copy on another server agree on; the same record where nothing changes. `now` is the
 * time of `LockClock.earliest`. Throws `AccessDenied` where the sender may not make a change that follows.
 */
export function joinReplica(
  record: ObjectRecord,
  arriving: Arriving,
  { now, keepsTimes }: { readonly now: number; readonly keepsTimes: boolean },
): ObjectRecord {
  const before = attributesHere(record);
  const there = attributesThere(record, arriving);
  const after = { ...joinAttributes(before, there), retention: joinRetention(before, there, now) };
  if (isDeepStrictEqual(before, after)) return record;
  checkRights(before, after, arriving.may, now);
  const { tags, retention, legalHold, metadata } = after;
  const lock = storedLock({
    ...(retention.value && { retention: retention.value }),
    ...(legalHold.value !== undefined && { legalHold: legalHold.value }),
  });
  const { tags: _tags, lock: _lock, ...rest } = record;
  const { storageClass } = record.headers;
  const joined: ObjectRecord = {
    ...rest,
    // The storage class is that of the place, such as the name of a tier.
    headers: { ...metadata.value, ...(storageClass !== undefined && { storageClass }) },
    ...(Object.keys(tags.value).length > 0 && { tags: tags.value }),
    ...(Object.keys(lock).length > 0 && { lock }),
  };
  const times = { tags: tags.at, retention: retention.at, legalHold: legalHold.at, metadata: metadata.at };
  if (keepsTimes) return withTimes(joined, times);
  const changed = Math.max(...Object.values(times).map(millisecondsAt));
  return { ...joined, replication: { status: 'REPLICA', ...record.replication, changed } };
}

/**
 * A version has one retention. GOVERNANCE that is newer than COMPLIANCE and ends later follows it when COMPLIANCE has ended. Until then both sides
 * keep their own: neither end may be lost, and COMPLIANCE until the later end would be more than any caller has asked for.
 */
function joinRetention(here: DatedAttributes, there: DatedAttributes, now: number): DatedAttributes['retention'] {
  const joined = joinAttributes(here, there).retention;
  const later = outlasting(here.retention, there.retention);
  if (later?.value === undefined || joined.value === undefined) return joined;
  if (joined.value.until.getTime() <= now) return later;
  throw new S3Error(
    'AccessDenied',
    `One server has COMPLIANCE until ${joined.value.until.toISOString()}, the other GOVERNANCE until ${later.value.until.toISOString()}: the version keeps its retention here until COMPLIANCE ends. Extend COMPLIANCE to settle it earlier.`,
  );
}

/** A lock of a record without times is as new as the last change of the record: it may have been set by that. */
function attributesHere(record: ObjectRecord): DatedAttributes {
  const { tags = {}, lock = {} } = record;
  const { retention, legalHold } = shownLock(lock);
  const { storageClass: _class, ...headers } = record.headers;
  const times = changesOf(record);
  const last = record.changes === undefined ? record.replication?.changed : undefined;
  return {
    tags: { value: tags, at: times.tags },
    retention: { value: retention, at: (retention && last) ?? times.retention },
    legalHold: { value: legalHold, at: (legalHold === true ? last : undefined) ?? times.legalHold },
    metadata: { value: headers, at: times.metadata },
  };
}

/** Attributes without a time from the other server are as old as the version. Metadata has the time of the version there, which MinIO sets anew. */
function attributesThere(
  { modified: made }: ObjectRecord,
  { modified, headers: { storageClass: _class, ...headers }, tags, lock = {}, changes = {} }: Arriving,
): DatedAttributes {
  return {
    tags: { value: tags, at: changes.tags ?? made },
    retention: { value: lock.retention, at: changes.retention ?? made },
    legalHold: { value: lock.legalHold, at: changes.legalHold ?? made },
    metadata: { value: headers, at: changes.metadata ?? modified.getTime() },
  };
}

/** No sender may weaken COMPLIANCE before its end, whatever the times say. */
function checkRights(before: DatedAttributes, after: DatedAttributes, may: ReplicaRights, now: number): void {
  if (!may.tags && !isDeepStrictEqual(before.tags.value, after.tags.value)) throw new S3Error('AccessDenied');
  // A legal hold that is off is none.
  const [held, holds] = [before.legalHold.value === true, after.legalHold.value === true];
  if (!may.legalHold && held !== holds) throw new S3Error('AccessDenied');
  const [kept, next] = [before.retention.value, after.retention.value];
  if (isDeepStrictEqual(kept, next)) return;
  if (!may.retention) throw new S3Error('AccessDenied');
  if (kept === undefined || !isRetentionWeaker(kept, next, now)) return;
  if (kept.mode === 'GOVERNANCE' && may.bypassGovernance) return;
  throw new S3Error('AccessDenied', 'Access Denied because object protected by object lock.');
}
