import { targetIdOf } from '../../../protocol/s3/bucket-replication.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ReplicationState, ResyncVersion } from '../contract/object-layer.ts';
import { commitChange } from '../commit/commit-change.ts';
import { getBucket } from '../records/bucket-record.ts';
import { encodeObject, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { asked, queued } from './queue-replication.ts';
import { targetsOf } from './replication-targets.ts';
import { objectRecordKey } from '../records/version-place.ts';
import { findVersion } from '../versions/find-version.ts';

/**
 * Queues a version for a target again, replicas too: the target may have lost those that its own clients wrote. Returns false where the version
 * is gone, and where no rule replicates existing objects like it to the target.
 */
export function queueResync(
  context: ObjectContext,
  { bucket, key, versionId, target, resync }: ResyncVersion,
): Promise<boolean> {
  return commitChange(context, async () => {
    const { replication } = (await getBucket(context.records, bucket)).record;
    const found = await findVersion(context, bucket, key, versionId);
    const record = found?.stored.record;
    if (found === undefined || record === undefined || replication === undefined) return { result: false };
    const change = record.deleteMarker === true ? 'marker' : 'version';
    const rules = replication.rules.filter((rule) => rule.existingObjects && targetIdOf(rule.target) === target);
    if (targetsOf({ rules }, { key, tags: record.tags, change, isReplica: false }).length === 0)
      return { result: false };
    const { waiting = [], ...kept }: Partial<ReplicationState> = record.replication ?? {};
    const status = kept.status === 'REPLICA' ? 'REPLICA' : 'PENDING';
    const after: ObjectRecord = {
      ...record,
      replication: {
        ...kept,
        status,
        waiting: [...new Set([...waiting, target])],
        ...(kept.targets && { targets: asked(kept.targets, [target]) }),
      },
    };
    const recordKey =
      found.at === 'marker' ? recordKeys.marker(bucket, key) : objectRecordKey({ bucket, key, order: found.order });
    return {
      batch: {
        expect: [{ kind: 'revision', key: recordKey, revision: found.stored.revision }],
        put: [
          { key: recordKey, value: encodeObject(after) },
          queued(context, target, { bucket, key, change, record: after }, resync),
        ],
      },
      result: true,
    };
  });
}
