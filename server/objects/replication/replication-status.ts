import { mapLimit } from '../../../platform/concurrency.ts';
import type { Batch, Key, Revision } from '../../store/record-store.ts';
import type { ObjectContext } from '../context.ts';
import { type RuledEvent, ruledEvent } from '../events/object-event.ts';
import { withEvent } from '../events/outbox.ts';
import { AttemptEvents, commitChange, objectRecordKey } from '../operations/commit-change.ts';
import { findVersion, shownVersionId } from '../operations/versions.ts';
import { type BucketRecord, isObserved } from '../records/bucket-record.ts';
import type { ReplicationOutcome, ReplicationState } from '../object-layer.ts';
import { encodeObject, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';

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
  const ofVersions = Map.groupBy(outcomes, ({ bucket, key, versionId }) => `${bucket}/${key}/${versionId}`);
  const read = await mapLimit([...ofVersions.values()], readAtOnce, (ofOne) => planStatus(context, ofOne));
  const planned = read.filter((one) => one !== undefined);
  const attempt = new AttemptEvents(context.events);
  const events = planned.flatMap((one) => one.events);
  const { random } = context;
  const batch = events.reduce<Omit<Batch, 'id'>>(
    (all, event) => withEvent({ events: attempt, random }, all, event),
    batchOf(planned),
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
    const replication = record.replication && stateAfter(record.replication, outcome);
    if (replication === undefined) continue;
    record = { ...record, replication };
    if (isObserved(context, stored)) events.push(eventOf(context, stored, record, outcome));
  }
  if (record === found.stored.record) return undefined;
  const recordKey = at === 'marker' ? recordKeys.marker(bucket, key) : objectRecordKey({ bucket, key, order });
  return { recordKey, revision: found.stored.revision, record, events };
}

function eventOf(
  context: ObjectContext,
  stored: BucketRecord,
  record: ObjectRecord,
  { bucket, key, status }: ReplicationOutcome,
): RuledEvent {
  const name = status === 'COMPLETED' ? 'OperationCompletedReplication' : 'OperationFailedReplication';
  const happened = { bucket, key, stored, versionId: shownVersionId(record), by: undefined };
  return ruledEvent(context, { ...happened, names: [`s3:Replication:${name}`], record });
}

/** Returns undefined where nothing changes. */
function stateAfter(
  before: ReplicationState,
  { target, status, changed }: ReplicationOutcome,
): ReplicationState | undefined {
  const { waiting = [], ...kept } = before;
  if (!waiting.includes(target)) return undefined;
  if (status === 'FAILED') {
    return before.status === 'PENDING' ? { ...before, status: 'FAILED' } : undefined;
  }
  // A client changed the version while it was sent.
  if ((before.changed ?? 0) > (changed ?? 0)) return undefined;
  const rest = waiting.filter((id) => id !== target);
  if (rest.length > 0) return { ...before, waiting: rest };
  return { ...kept, status: before.status === 'REPLICA' ? 'REPLICA' : 'COMPLETED' };
}
