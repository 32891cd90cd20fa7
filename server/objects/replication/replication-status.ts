import { isDeepStrictEqual } from 'node:util';
import { mapLimit } from '../../../platform/async/concurrency.ts';
import type { Batch, Key, Revision } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { type RuledEvent, ruledEvent } from '../records/object-event.ts';
import { withEvent } from '../events/outbox.ts';
import { AttemptEvents } from '../events/attempt-events.ts';
import { commitChange } from '../commit/commit-change.ts';
import { type BucketRecord, isObserved } from '../records/bucket-record.ts';
import type { ReplicationOutcome, ReplicationState, VersionAtTarget } from '../contract/object-layer.ts';
import { withTimes } from '../records/attribute-changes.ts';
import { changesOf } from '../records/change-times.ts';
import { encodeObject, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { objectRecordKey } from '../records/version-place.ts';
import { targetsOf } from './replication-targets.ts';
import { findVersion, type FoundVersion, shownVersionId } from '../versions/find-version.ts';

/** Versions that are read at a time. */
const readAtOnce = 16;

/** Sets the replication state of a version after its delivery to a target. A version that is gone has none. */
export function setReplicationStatus(context: ObjectContext, outcome: ReplicationOutcome): Promise<void> {
  return commitChange(context, async () => {
    const planned = await planStatus(context, [outcome]);
    return planned === undefined
      ? { result: undefined }
      : { batch: batchOf([planned]), result: undefined, event: planned.events };
  });
}

/**
 * Sets the replication states of several versions in one commit, which the caller makes and adds to: a delivered change leaves its queue
 * with it. Resolves with false after a conflict, by which nothing has changed. Versions that are gone have no state.
 */
export async function setReplicationStatuses(
  context: ObjectContext,
  outcomes: readonly ReplicationOutcome[],
  commit: (batch: Omit<Batch, 'id'>) => Promise<boolean>,
): Promise<boolean> {
  const ofVersions = Map.groupBy(outcomes, ({ bucket, key, versionId }) => JSON.stringify([bucket, key, versionId]));
  const read = await mapLimit([...ofVersions.values()], readAtOnce, (ofOne) => planStatus(context, ofOne));
  const planned = read.filter((one) => one !== undefined);
  const attempt = new AttemptEvents(context.events);
  const events = planned.flatMap((one) => one.events);
  const { random } = context;
  const batch = await attempt.plan(() =>
    events.reduce<Omit<Batch, 'id'>>(
      (all, event) => withEvent({ events: attempt, random }, all, event),
      batchOf(planned),
    ),
  );
  if (!(await commit(batch))) return false;
  attempt.onCommitted();
  for (const event of events) context.events.hear(event);
  return true;
}

interface PlannedStatus {
  readonly recordKey: Key;
  readonly revision: Revision;
  readonly record: ObjectRecord;
  readonly events: readonly RuledEvent[];
}

function batchOf(planned: readonly PlannedStatus[]) {
  return {
    expect: planned.map(({ recordKey, revision }) => ({ kind: 'revision' as const, key: recordKey, revision })),
    put: planned.map(({ recordKey, record }) => ({ key: recordKey, value: encodeObject(record) })),
  };
}

/** The outcomes are those of one version, in their order. Returns undefined where nothing changes. */
async function planStatus(
  context: ObjectContext,
  outcomes: readonly ReplicationOutcome[],
): Promise<PlannedStatus | undefined> {
  const [first] = outcomes;
  if (first === undefined) return undefined;
  const { bucket, key, versionId } = first;
  const found = await findVersion(context, bucket, key, versionId);
  if (found === undefined) return undefined;
  const bucketEntry = await context.records.get(recordKeys.bucket(bucket));
  if (bucketEntry === undefined) return undefined;
  const stored = context.buckets.decode(bucketEntry, bucket).record;
  const { at, order } = found;
  let { record } = found.stored;
  const events: RuledEvent[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === 'FORGOTTEN') {
      record = await withoutTarget(context, stored, record, outcome);
      continue;
    }
    const replication = record.replication && stateAfter(record.replication, outcome);
    if (replication === undefined) continue;
    record = { ...record, replication };
    // The version still waits where a client has changed it meanwhile.
    const isOver = outcome.status === 'FAILED' || replication.waiting?.includes(outcome.target) !== true;
    if (isOver && isObserved(context, stored)) events.push(eventOf(context, stored, record, { ...outcome, at }));
  }
  if (record === found.stored.record) return undefined;
  const recordKey = at === 'marker' ? recordKeys.marker(bucket, key) : objectRecordKey({ bucket, key, order });
  return { recordKey, revision: found.stored.revision, record, events };
}

function eventOf(
  context: ObjectContext,
  stored: BucketRecord,
  record: ObjectRecord,
  { bucket, key, status, at }: ReplicationOutcome & Pick<FoundVersion, 'at'>,
): RuledEvent {
  const name = status === 'COMPLETED' ? 'OperationCompletedReplication' : 'OperationFailedReplication';
  const happened = { bucket, key, stored, versionId: shownVersionId(record), by: undefined };
  const current = at === 'current' ? {} : ({ current: 'unchanged' } as const);
  return ruledEvent(context, { ...happened, names: [`s3:Replication:${name}`], record, ...current });
}

/** Returns undefined where nothing changes. */
export function stateAfter(before: ReplicationState, outcome: ReplicationOutcome): ReplicationState | undefined {
  const { target, status, changed } = outcome;
  const { waiting = [], targets = {}, ...kept } = before;
  if (!waiting.includes(target)) return undefined;
  if (status === 'FAILED') return stateAfterFailure(before, outcome);
  const after: Readonly<Record<string, VersionAtTarget>> = { ...targets, [target]: { has: 'whole' } };
  // A client changed the version while it was sent.
  if ((before.changed ?? 0) > (changed ?? 0)) return { ...before, targets: after };
  const rest = waiting.filter((id) => id !== target);
  if (rest.length > 0) return { ...before, waiting: rest, targets: after };
  if (before.status === 'REPLICA') return { ...kept, targets: after };
  const isRefused = Object.values(after).some(({ refused }) => refused !== undefined);
  return { ...kept, status: isRefused ? 'FAILED' : 'COMPLETED', targets: after };
}

function stateAfterFailure(
  before: ReplicationState,
  { target, refused, isRemoved, givenUp }: ReplicationOutcome,
): ReplicationState | undefined {
  const { waiting = [], targets = {}, ...kept } = before;
  const { has } = targets[target] ?? {};
  const there: VersionAtTarget = {
    ...(isRemoved === true ? { has: 'removed' } : has !== undefined && { has }),
    ...(refused !== undefined && { refused }),
    ...(givenUp?.isImpossible === true && { isImpossible: true }),
  };
  // A later change is in the queue still.
  const isLast = givenUp !== undefined && (before.changed ?? 0) <= givenUp.time;
  const after: ReplicationState = {
    ...kept,
    status: before.status === 'REPLICA' ? 'REPLICA' : 'FAILED',
    ...waitingFor(isLast ? waiting.filter((id) => id !== target) : waiting),
    targets: { ...targets, [target]: there },
  };
  return isDeepStrictEqual(before, after) ? undefined : after;
}

function waitingFor(ids: readonly string[]): Pick<ReplicationState, 'waiting'> {
  return ids.length === 0 ? {} : { waiting: ids };
}

/** Forgets a remote target that was removed. The time of the last change stays, also where it is that of a record of format 3. */
async function withoutTarget(
  { written }: ObjectContext,
  { replication: rules = { rules: [] } }: BucketRecord,
  record: ObjectRecord,
  { key, target }: ReplicationOutcome,
): Promise<ObjectRecord> {
  const { replication: before, ...rest } = record;
  if (before === undefined) return record;
  // A record from before the states by target does not say which of the targets have the version.
  const named = targetsOf(rules, { key, tags: record.tags, change: 'version', isReplica: false });
  const isElsewhere = before.targets === undefined && named.some((id) => id !== target);
  const replication = stateWithout(before, target, isElsewhere);
  if (replication !== undefined) return { ...rest, replication };
  const times = withTimes(record, changesOf(record)).changes;
  if (times === undefined || record.changes !== undefined) return rest;
  if (await written.isNewest()) return { ...rest, changes: times };
  return {
    ...rest,
    replication: { status: 'FAILED', ...(before.changed !== undefined && { changed: before.changed }) },
  };
}

/** Returns undefined where nothing is left: no other target has the version, or waits for it. `isElsewhere`: another target has it. */
function stateWithout(before: ReplicationState, target: string, isElsewhere: boolean): ReplicationState | undefined {
  const { waiting = [], targets = {}, ...kept } = before;
  const { [target]: _forgotten, ...known } = targets;
  const rest = waiting.filter((id) => id !== target);
  const more = { ...kept, ...(Object.keys(known).length > 0 && { targets: known }) };
  if (rest.length > 0) return { ...more, waiting: rest };
  if (before.status === 'REPLICA') return more;
  const others = Object.values(known);
  if (others.some(({ refused }) => refused !== undefined)) return { ...more, status: 'FAILED' };
  return isElsewhere || others.some(({ has }) => has === 'whole') ? { ...more, status: 'COMPLETED' } : undefined;
}
