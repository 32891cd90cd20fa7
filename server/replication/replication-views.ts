import { resyncOf, type TargetProgress } from './bucket-replications.ts';

/**
 * Returns the metrics of a bucket as clients of MinIO read them.
 *
 * @see https://github.com/minio/minio-go/blob/master/pkg/replication/replication.go
 */
export function replicationMetrics(targets: readonly TargetProgress[]) {
  const sum = (of: (target: TargetProgress) => number) => targets.reduce((all, target) => all + of(target), 0);
  return {
    Stats: Object.fromEntries(targets.map((target) => [target.stored.target.arn, metricsOfTarget(target)])),
    completedReplicationSize: sum(({ stats }) => stats.replicated.bytes),
    replicationCount: sum(({ stats }) => stats.replicated.count),
    failedReplicationSize: sum(({ stats }) => stats.failed.bytes),
    failedReplicationCount: sum(({ stats }) => stats.failed.count),
    pendingReplicationSize: sum(({ queue }) => queue?.bytes ?? 0),
    pendingReplicationCount: sum(({ queue }) => queue?.events ?? 0),
    replicaSize: 0,
    replicaCount: 0,
    failed: errors(
      sum(({ stats }) => stats.failed.count),
      sum(({ stats }) => stats.failed.bytes),
    ),
    queued: queued(
      sum(({ queue }) => queue?.events ?? 0),
      sum(({ queue }) => queue?.bytes ?? 0),
    ),
  };
}

function metricsOfTarget({ stored, stats: { replicated, failed }, queue }: TargetProgress) {
  return {
    completedReplicationSize: replicated.bytes,
    replicationCount: replicated.count,
    failedReplicationSize: failed.bytes,
    failedReplicationCount: failed.count,
    pendingReplicationSize: queue?.bytes ?? 0,
    pendingReplicationCount: queue?.events ?? 0,
    replicaSize: 0,
    limitInBits: stored.target.bandwidthLimit,
    currentBandwidth: 0,
    failed: errors(failed.count, failed.bytes),
    ...(queue?.oldest !== undefined && { waitingSince: new Date(queue.oldest).toISOString() }),
    ...(queue?.failure && {
      failure: { since: new Date(queue.failure.since).toISOString(), error: queue.failure.error },
    }),
    ...(queue?.held && { held: { ...queue.held, since: new Date(queue.held.since).toISOString() } }),
  };
}

function errors(count: number, bytes: number) {
  const none = { count: 0, bytes: 0 };
  return { lastMinute: none, lastHour: none, totals: { count, bytes } };
}

function queued(count: number, bytes: number) {
  const now = { count, bytes };
  return { curr: now, avg: now, max: now };
}

/** Returns the second form of the metrics. `uptime` is in seconds. */
export function replicationMetricsV2(targets: readonly TargetProgress[], uptime: number) {
  return {
    uptime,
    currStats: replicationMetrics(targets),
    queueStats: { nodes: [] },
    proxyStats: proxyStats(targets),
    downtimeInfo: Object.fromEntries(
      targets.map(({ stored, stats: { health } }) => [
        stored.target.arn,
        { duration: { total: (health?.downtimeMs ?? 0) * 1e6 }, count: { total: health?.outages ?? 0 } },
      ]),
    ),
  };
}

/** Returns the reads that were passed on. Changes of tags are not. */
function proxyStats(targets: readonly TargetProgress[]) {
  const sum = (kind: keyof TargetProgress['proxied']) => targets.reduce((all, { proxied }) => all + proxied[kind], 0);
  return {
    getProxyTotal: sum('get'),
    getProxyFailed: sum('getFailed'),
    headProxyTotal: sum('head'),
    headProxyFailed: sum('headFailed'),
    getTaggingProxyTotal: sum('tags'),
    getTaggingProxyFailed: sum('tagsFailed'),
    putTaggingProxyTotal: 0,
    putTaggingProxyFailed: 0,
    removeTaggingProxyTotal: 0,
    removeTaggingProxyFailed: 0,
  };
}

/** Returns the progress of resyncs as `mc replicate resync status` reads it. */
export function resyncView(bucket: string, targets: readonly TargetProgress[]) {
  return {
    target: targets.flatMap((target) => {
      const resync = resyncOf(target);
      if (resync === undefined) return [];
      return [
        {
          arn: target.stored.target.arn,
          resetid: resync.id,
          startTime: timeOf(resync.started),
          endTime: timeOf(resync.ended ?? 0),
          resyncStatus: statusOf(resync),
          completedReplicationSize: resync.replicated.bytes,
          failedReplicationSize: resync.failed.bytes,
          failedReplicationCount: resync.failed.count,
          replicationCount: resync.replicated.count,
          bucket,
          object: resync.next?.key ?? '',
        },
      ];
    }),
  };
}

function statusOf({ started, ended, canceled, failed }: NonNullable<ReturnType<typeof resyncOf>>): string {
  if (canceled !== undefined) return 'Canceled';
  if (started === 0) return 'Pending';
  if (ended === undefined) return 'Ongoing';
  return failed.count > 0 ? 'Failed' : 'Completed';
}

/** Go writes no time as the year 1. */
function timeOf(ms: number): string {
  return ms === 0 ? '0001-01-01T00:00:00Z' : new Date(ms).toISOString();
}
