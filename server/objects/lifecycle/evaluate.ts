import type { LifecycleFilter, LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { isBelowTransitionMinimum } from '../../../protocol/s3/lifecycle/transition-minimum.ts';

/** The properties of a version that rules look at. */
export interface VersionFacts {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** Undefined where the tags were not read: then a rule with tags counts as fulfilled. */
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly deleteMarker: boolean;
}

/** A noncurrent version. */
export interface NoncurrentFacts extends VersionFacts {
  /** The time when it became noncurrent: that of the next version of its key. Milliseconds since 1970. */
  readonly noncurrentSince: number;
  /** The count of noncurrent versions of its key that are newer. */
  readonly newer: number;
}

/** Lifecycle rules at a moment. */
export interface Evaluation {
  readonly rules: readonly LifecycleRule[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds of a day: shorter in tests. */
  readonly dayMs: number;
}

/**
 * Returns the time when something that happened at `time` is this many days old: the next midnight UTC after them, as S3 rounds. Without
 * days it is the time itself.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html
 */
export function dueAfter(time: number, days: number, dayMs: number): number {
  return days === 0 ? time : (Math.floor(time / dayMs) + days + 1) * dayMs;
}

/** The expiration of a current version, as `x-amz-expiration` names it. */
export interface Expiration {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly ruleId: string;
  /** The other versions of the key go with it. */
  readonly allVersions: boolean;
}

/** Returns the earliest expiration of a current object, which may be in the future. Undefined if no rule expires it. */
export function expirationOf(
  { rules, dayMs }: Pick<Evaluation, 'rules' | 'dayMs'>,
  version: VersionFacts,
): Expiration | undefined {
  let earliest: Expiration | undefined;
  for (const { id, enabled, filter, expiration } of rules) {
    if (!enabled || expiration === undefined || 'loneMarkers' in expiration || !fulfils(version, filter)) continue;
    const at = 'date' in expiration ? expiration.date : dueAfter(version.modified, expiration.days, dayMs);
    const allVersions = expiration.allVersions === true;
    if (earliest === undefined || at < earliest.at || (at === earliest.at && allVersions && !earliest.allVersions)) {
      earliest = { at, ruleId: id, allVersions };
    }
  }
  return earliest;
}

/** Returns what is due for the current version of a key if it is an object. */
export function dueForCurrent(evaluation: Evaluation, version: VersionFacts): 'expire' | 'remove-all' | undefined {
  const { rules, now, dayMs } = evaluation;
  const due = rules.filter(({ expiration }) => expiration !== undefined);
  let result: 'expire' | undefined;
  for (const rule of due) {
    const expiration = expirationOf({ rules: [rule], dayMs }, version);
    if (expiration === undefined || expiration.at > now) continue;
    if (expiration.allVersions) return 'remove-all';
    result = 'expire';
  }
  return result;
}

/**
 * Returns what is due for the current version of a key if it is a delete marker. `isLone` says that the key has no other version: then
 * rules that expire current versions by their age remove it too, as in S3.
 */
export function dueForMarker(
  { rules, now, dayMs }: Evaluation,
  marker: VersionFacts,
  isLone: boolean,
): 'remove' | 'remove-all' | undefined {
  let result: 'remove' | undefined;
  for (const { enabled, filter, expiration, markerDays } of rules) {
    if (!enabled || !fulfils(marker, filter)) continue;
    if (markerDays !== undefined && dueAfter(marker.modified, markerDays, dayMs) <= now) return 'remove-all';
    if (!isLone || expiration === undefined) continue;
    const at =
      'loneMarkers' in expiration
        ? marker.modified
        : 'date' in expiration
          ? expiration.date
          : dueAfter(marker.modified, expiration.days, dayMs);
    if (at <= now) result = 'remove';
  }
  return result;
}

/** Reports if a rule removes all versions of a key because of its current version, or of its current delete marker. */
export function isWholeKeyDue(evaluation: Evaluation, current: VersionFacts): boolean {
  const due = current.deleteMarker ? dueForMarker(evaluation, current, false) : dueForCurrent(evaluation, current);
  return due === 'remove-all';
}

/**
 * Returns the tier to which a current object is due to move, that of the rule that was due first. Undefined if none is. An expiration goes
 * first: the caller asks for it before.
 */
export function dueTransition({ rules, now, dayMs }: Evaluation, version: VersionFacts): string | undefined {
  let earliest: { readonly at: number; readonly tier: string } | undefined;
  for (const rule of rules) {
    const { enabled, filter, transition } = rule;
    if (!enabled || transition === undefined || version.deleteMarker || !fulfils(version, filter)) continue;
    if (isBelowTransitionMinimum(rule, version.size)) continue;
    const at = 'date' in transition ? transition.date : dueAfter(version.modified, transition.days, dayMs);
    if (at <= now && (earliest === undefined || at < earliest.at)) earliest = { at, tier: transition.tier };
  }
  return earliest?.tier;
}

/** Returns the tier to which a noncurrent version is due to move. */
export function dueNoncurrentTransition(
  { rules, now, dayMs }: Evaluation,
  version: NoncurrentFacts,
): string | undefined {
  return rules.find(
    (rule) =>
      rule.enabled &&
      rule.noncurrentTransition !== undefined &&
      !version.deleteMarker &&
      version.newer >= (rule.noncurrentTransition.keep ?? 0) &&
      dueAfter(version.noncurrentSince, rule.noncurrentTransition.days, dayMs) <= now &&
      fulfils(version, rule.filter) &&
      !isBelowTransitionMinimum(rule, version.size),
  )?.noncurrentTransition?.tier;
}

/** Reports if a noncurrent version is due. */
export function isNoncurrentDue({ rules, now, dayMs }: Evaluation, version: NoncurrentFacts): boolean {
  return rules.some(
    ({ enabled, filter, noncurrent }) =>
      enabled &&
      noncurrent !== undefined &&
      version.newer >= (noncurrent.keep ?? 0) &&
      dueAfter(version.noncurrentSince, noncurrent.days, dayMs) <= now &&
      fulfils(version, filter),
  );
}

/** Returns the time when an unfinished upload is aborted, with the rule. Undefined if no rule aborts it. */
export function abortionOf(
  { rules, dayMs }: Pick<Evaluation, 'rules' | 'dayMs'>,
  upload: { readonly key: string; readonly initiated: number },
): { readonly at: number; readonly ruleId: string } | undefined {
  let earliest: { readonly at: number; readonly ruleId: string } | undefined;
  for (const { id, enabled, filter, abortUploadsDays } of rules) {
    if (!enabled || abortUploadsDays === undefined || !upload.key.startsWith(filter.prefix ?? '')) continue;
    const at = dueAfter(upload.initiated, abortUploadsDays, dayMs);
    if (earliest === undefined || at < earliest.at) earliest = { at, ruleId: id };
  }
  return earliest;
}

/** A delete marker has neither tags nor a size: it never fulfils a filter that asks for them. */
function fulfils(version: VersionFacts, { prefix = '', tags, greaterThan, lessThan }: LifecycleFilter): boolean {
  if (!version.key.startsWith(prefix)) return false;
  const needsObject = tags !== undefined || greaterThan !== undefined || lessThan !== undefined;
  if (needsObject && version.deleteMarker) return false;
  if (greaterThan !== undefined && version.size <= greaterThan) return false;
  if (lessThan !== undefined && version.size >= lessThan) return false;
  const { tags: given } = version;
  if (tags === undefined || given === undefined) return true;
  return Object.entries(tags).every(([key, value]) => Object.hasOwn(given, key) && given[key] === value);
}

/** Returns the expiration of a current object as answers show it. */
export function shownExpiration(
  { lifecycle }: { readonly lifecycle?: readonly LifecycleRule[] | undefined },
  dayMs: number,
  key: string,
  record: Pick<VersionFacts, 'size' | 'modified'> & Partial<Pick<VersionFacts, 'tags'>>,
): { readonly date: Date; readonly ruleId: string } | undefined {
  if (lifecycle === undefined) return undefined;
  const { size, modified, tags = {} } = record;
  const found = expirationOf({ rules: lifecycle, dayMs }, { key, size, modified, tags, deleteMarker: false });
  return found && { date: new Date(found.at), ruleId: found.ruleId };
}

/** Returns the abortion of an unfinished upload as answers show it. */
export function shownAbortion(
  { lifecycle }: { readonly lifecycle?: readonly LifecycleRule[] | undefined },
  dayMs: number,
  upload: { readonly key: string; readonly initiated: number },
): { readonly date: Date; readonly ruleId: string } | undefined {
  const found = lifecycle && abortionOf({ rules: lifecycle, dayMs }, upload);
  return found && { date: new Date(found.at), ruleId: found.ruleId };
}
