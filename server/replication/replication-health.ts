import type { ReplicationHealth } from '../../protocol/admin/replication-health.ts';
import { mapLimit } from '../../platform/async/concurrency.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { readState } from '../outbox/queue-state.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { RemoteTargets } from './remote-targets.ts';

/** The most targets whose queues are read. */
const maxTargets = 500;

/** Reads the queue of each target of the replication. */
export async function replicationHealth(
  records: Pick<RecordStore, 'get'>,
  targets: Pick<RemoteTargets, 'all'>,
): Promise<readonly ReplicationHealth[]> {
  const stored = (await targets.all()).slice(0, maxTargets);
  return mapLimit(stored, 8, async ({ id, target }) => {
    const queue = await readState(records, replicationQueue(id));
    return {
      bucket: target.sourceBucket,
      target: `${target.endpoint}/${target.targetBucket}`,
      waiting: queue?.events ?? 0,
      ...(queue?.oldest !== undefined && { oldest: queue.oldest }),
      ...(queue?.failure && { failure: queue.failure }),
      ...(queue?.held && { held: queue.held }),
    };
  });
}
