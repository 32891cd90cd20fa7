import type { ObjectContext } from '../context.ts';
import { ruledEvent } from '../events/object-event.ts';
import { commitChange, objectRecordKey } from '../operations/commit-change.ts';
import { findVersion, shownVersionId } from '../operations/versions.ts';
import { getBucket, isObserved } from '../records/bucket-record.ts';
import type { ReplicationOutcome, ReplicationState } from '../object-layer.ts';
import { encodeObject, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';

/** Sets the replication state of a version after its delivery to a target. A version that is gone has none. */
export function setReplicationStatus(context: ObjectContext, outcome: ReplicationOutcome): Promise<void> {
  const { bucket, key, versionId } = outcome;
  return commitChange(context, async () => {
    const found = await findVersion(context, bucket, key, versionId);
    const record = found?.stored.record;
    const replication = record?.replication && stateAfter(record.replication, outcome);
    if (found === undefined || record === undefined || replication === undefined) return { result: undefined };
    const after: ObjectRecord = { ...record, replication };
    const recordKey =
      found.at === 'marker' ? recordKeys.marker(bucket, key) : objectRecordKey({ bucket, key, order: found.order });
    const stored = (await getBucket(context.records, bucket)).record;
    const name = outcome.status === 'COMPLETED' ? 'OperationCompletedReplication' : 'OperationFailedReplication';
    const happened = { bucket, key, stored, versionId: shownVersionId(record), by: undefined };
    return {
      batch: {
        expect: [{ kind: 'revision', key: recordKey, revision: found.stored.revision }],
        put: [{ key: recordKey, value: encodeObject(after) }],
      },
      result: undefined,
      event: isObserved(context, stored)
        ? ruledEvent(context, { ...happened, names: [`s3:Replication:${name}`], record: after })
        : undefined,
    };
  });
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
