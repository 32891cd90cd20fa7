import { checkRetentionEnd } from '../../../protocol/s3/object-lock.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLock, Retention } from '../contract/object-layer.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import type { ObjectLock as StoredLock, ObjectRecord } from '../records/object-record.ts';
import type { LockClock } from '../contract/lock-clock.ts';

/**
 * Refuses to remove a locked version. A caller with the permission may bypass GOVERNANCE; nothing bypasses COMPLIANCE or a legal hold.
 * `now` is the time of `LockClock.earliest`, as for the other checks here. Throws `AccessDenied`.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html
 */
export function checkRemovable({ lock }: Pick<ObjectRecord, 'lock'>, now: number, bypassGovernance: boolean): void {
  if (!isLocked({ lock }, now)) return;
  if (bypassGovernance && lock?.mode === 'GOVERNANCE' && lock.legalHold !== true) return;
  throw new S3Error('AccessDenied', 'Access Denied because object protected by object lock.');
}

/** Reports if a version has a legal hold, or a retention that has not ended. */
export function isLocked({ lock }: Pick<ObjectRecord, 'lock'>, now: number): boolean {
  return lock !== undefined && (lock.legalHold === true || (lock.until !== undefined && lock.until > now));
}

/**
 * Checks the lock that a request asks for, before the body comes: a retention that ends while the body comes is stored as it is. Throws
 * `InvalidRequest` for a lock in a bucket without object lock, and `InvalidArgument` for a retention that ends before `now`.
 */
export function checkLockOfNew({ objectLock }: BucketRecord, requested: ObjectLock | undefined, now: number): void {
  if (requested === undefined) return;
  if (requested.retention !== undefined) {
    checkRetentionEnd(requested.retention.until, now, 'x-amz-object-lock-retain-until-date');
  }
  if (objectLock === undefined) throw missingLock();
}

function missingLock(): S3Error {
  return new S3Error('InvalidRequest', 'Bucket is missing Object Lock Configuration');
}

/**
 * Returns the lock of a new version: that of the request, and the default retention of the bucket where the request has none. That
 * begins with the time of the version, which is never before the wall clock, and not before the time that passed.
 */
export function lockOfNew(
  { objectLock }: BucketRecord,
  requested: ObjectLock | undefined,
  modified: number,
  clock: Pick<LockClock, 'latest'>,
): StoredLock | undefined {
  // The bucket may be another one than that which was checked.
  if (objectLock === undefined && requested !== undefined) throw missingLock();
  if (objectLock === undefined) return undefined;
  const { defaultRetention } = objectLock;
  const mode = requested?.retention?.mode ?? defaultRetention?.mode;
  const until =
    requested?.retention?.until.getTime() ??
    (defaultRetention && Math.max(modified, clock.latest()) + retentionMs(defaultRetention));
  const legalHold = requested?.legalHold;
  if (mode === undefined && legalHold === undefined) return undefined;
  return {
    ...(mode !== undefined && until !== undefined && { mode, until }),
    ...(legalHold !== undefined && { legalHold }),
  };
}

const dayMs = 86_400_000;

/** A year has 365 days, as in S3. */
function retentionMs({ days = 0, years = 0 }: { readonly days?: number; readonly years?: number }): number {
  return (days + 365 * years) * dayMs;
}

/** Reports if a retention that has not ended would end earlier or change its mode. */
export function isRetentionWeaker(before: Retention, after: Retention | undefined, now: number): boolean {
  if (before.until.getTime() <= now) return false;
  if (after === undefined || after.until < before.until) return true;
  return after.mode !== before.mode;
}

/**
 * Refuses a change that would end a retention earlier or change its mode. Nothing does that to COMPLIANCE before its end; a caller with the
 * permission may do it to GOVERNANCE. Throws `AccessDenied`, and `InvalidArgument` for a retention that ends before `now`.
 */
export function checkRetentionChange(
  { lock }: Pick<ObjectRecord, 'lock'>,
  retention: Retention | undefined,
  { now, bypassGovernance }: { readonly now: number; readonly bypassGovernance: boolean },
): void {
  if (retention !== undefined) checkRetentionEnd(retention.until, now, 'RetainUntilDate');
  if (lock?.until === undefined || lock.until <= now) return;
  if (lock.mode === 'GOVERNANCE' && bypassGovernance) return;
  if (retention !== undefined && retention.mode === lock.mode && retention.until.getTime() >= lock.until) return;
  throw new S3Error('AccessDenied', 'Access Denied because object protected by object lock.');
}
