import { mapLimit } from '../../platform/async/concurrency.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { readState } from '../outbox/queue-state.ts';
import type { RecordStore } from '../store/record-store.ts';
import { readProxied } from './proxying/proxied-counts.ts';
import type { RemoteTargets } from './remote-targets.ts';
import { readStats } from './replication-stats.ts';

/** The most targets whose counters are read. */
const maxTargets = 500;

/** Reads the counters of all targets, for metrics. */
export async function replicationSums(
  records: Pick<RecordStore, 'get' | 'getAll'>,
  targets: Pick<RemoteTargets, 'all'>,
) {
  return mapLimit((await targets.all()).slice(0, maxTargets), 8, async ({ id, target }) => {
    const [stats, queue, proxied] = await Promise.all([
      readStats(records, id),
      readState(records, replicationQueue(id)),
      readProxied(records, id),
    ]);
    return {
      bucket: target.sourceBucket,
      targetArn: target.arn,
      sent: stats.replicated,
      failed: stats.failed,
      waiting: { count: queue?.events ?? 0, bytes: queue?.bytes ?? 0 },
      oldest: queue?.oldest,
      online: stats.health?.online,
      proxied,
    };
  });
}
