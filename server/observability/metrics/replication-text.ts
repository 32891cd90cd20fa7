import { Gauge, type Registry } from 'prom-client';

/** The replication of a bucket to one remote target, as all servers together know it. Counts are since the target was added. */
export interface ReplicationSums {
  readonly bucket: string;
  readonly targetArn: string;
  readonly sent: { readonly count: number; readonly bytes: number };
  readonly failed: { readonly count: number; readonly bytes: number };
  readonly waiting: { readonly count: number; readonly bytes: number };
  /** Milliseconds since 1970. */
  readonly oldest: number | undefined;
  readonly online: boolean | undefined;
  readonly proxied: {
    readonly get: number;
    readonly getFailed: number;
    readonly head: number;
    readonly headFailed: number;
    readonly tags: number;
    readonly tagsFailed: number;
  };
}

type Row = readonly [name: string, help: string, valueOf: (sums: ReplicationSums, now: number) => number | undefined];

const perTarget: readonly Row[] = [
  ['minio_bucket_replication_sent_count', 'Versions that the target took', ({ sent }) => sent.count],
  ['minio_bucket_replication_sent_bytes', 'Their bytes', ({ sent }) => sent.bytes],
  ['minio_bucket_replication_total_failed_count', 'Deliveries that the target refused', ({ failed }) => failed.count],
  ['minio_bucket_replication_total_failed_bytes', 'Their bytes', ({ failed }) => failed.bytes],
  ['coffer_bucket_replication_waiting_count', 'Changes that wait', ({ waiting }) => waiting.count],
  ['coffer_bucket_replication_waiting_bytes', 'Bytes that wait', ({ waiting }) => waiting.bytes],
  [
    'coffer_bucket_replication_oldest_change_seconds',
    'Age of the oldest change that waits, in seconds',
    ({ oldest }, now) => (oldest === undefined ? 0 : Math.max(0, (now - oldest) / 1_000)),
  ],
  [
    'coffer_bucket_replication_target_online',
    '1 where the target answered last time',
    ({ online }) => (online === undefined ? undefined : Number(online)),
  ],
  [
    'minio_bucket_replication_proxied_get_requests_total',
    'GETs of absent objects for which the target was asked',
    ({ proxied }) => proxied.get,
  ],
  [
    'minio_bucket_replication_proxied_get_requests_failures',
    'Those that the target did not answer',
    ({ proxied }) => proxied.getFailed,
  ],
  [
    'minio_bucket_replication_proxied_head_requests_total',
    'HEADs of absent objects for which the target was asked',
    ({ proxied }) => proxied.head,
  ],
  [
    'minio_bucket_replication_proxied_head_requests_failures',
    'Those that the target did not answer',
    ({ proxied }) => proxied.headFailed,
  ],
  [
    'minio_bucket_replication_proxied_get_tagging_requests_total',
    'Reads of the tags of absent objects for which the target was asked',
    ({ proxied }) => proxied.tags,
  ],
  [
    'minio_bucket_replication_proxied_get_tagging_requests_failures',
    'Those that the target did not answer',
    ({ proxied }) => proxied.tagsFailed,
  ],
];

/** Adds the replication of buckets, under the names of MinIO where it has the same. */
export function addReplication(registry: Registry, targets: readonly ReplicationSums[], now: number): void {
  if (targets.length === 0) return;
  for (const [name, help, valueOf] of perTarget) {
    const gauge = new Gauge({ name, help, labelNames: ['bucket', 'targetArn'], registers: [registry] });
    for (const sums of targets) {
      const value = valueOf(sums, now);
      if (value !== undefined) gauge.set({ bucket: sums.bucket, targetArn: sums.targetArn }, value);
    }
  }
}
