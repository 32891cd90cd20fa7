import { apiName } from '../../http/contract/request-audit.ts';
import type { BucketOperationSums, BucketSums } from './bucket-counters.ts';
import { firstByteBounds } from './first-byte-bounds.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  namedSizes,
  namedVersionCounts,
  type BucketUsage,
  type StoredSums,
  type TierUsage,
  type Usage,
} from '../usage/usage.ts';

/** Returns the label `api` of an operation. */
export function apiLabel(operation: string): string {
  return apiName(operation).toLowerCase();
}

type Bound = number | '+Inf';

/** Returns the count of requests up to each bound; the last has all of them. */
export function cumulative({
  firstBytes,
}: {
  readonly firstBytes: readonly number[];
}): readonly { readonly le: Bound; readonly count: number }[] {
  let count = 0;
  return firstBytes.map((more, index) => {
    count += more;
    return { le: firstByteBounds[index] ?? '+Inf', count };
  });
}

/** Formats a bound as MinIO does. */
export function boundLabel(le: Bound): string {
  return typeof le === 'number' ? le.toFixed(3) : le;
}

const perOperation = [
  ['minio_bucket_requests_total', 'S3 requests to the bucket that ended', ({ total }) => total],
  [
    'minio_bucket_requests_4xx_errors_total',
    'Those answered by a status of 4xx, or by 501',
    (sums) => sums.clientErrors,
  ],
  ['minio_bucket_requests_5xx_errors_total', 'Those answered by a status of 5xx but 501', (sums) => sums.serverErrors],
  ['minio_bucket_requests_canceled_total', 'Those whose client went away', ({ canceled }) => canceled],
] as const satisfies readonly (readonly [string, string, (sums: BucketOperationSums) => number])[];

/** Adds the requests by bucket, under the names that MinIO's dashboard of buckets reads. */
export function addBuckets(registry: Registry, buckets: readonly BucketSums[]): void {
  const registers = [registry];
  const labelNames = ['api', 'bucket'];
  const rows = buckets.flatMap(({ bucket, operations }) =>
    operations.map((sums) => ({ labels: { api: apiLabel(sums.operation), bucket }, sums })),
  );
  for (const [name, help, valueOf] of perOperation) {
    const counter = new Counter({ name, help, labelNames, registers });
    for (const { labels, sums } of rows) counter.inc(labels, valueOf(sums));
  }
  const inFlight = new Gauge({
    name: 'minio_bucket_requests_inflight_total',
    help: 'S3 requests to the bucket that are being answered',
    labelNames,
    registers,
  });
  const firstBytes = new Gauge({
    name: 'minio_bucket_requests_ttfb_seconds_distribution',
    help: 'Seconds from the head of an S3 request to the first byte of its answer',
    labelNames: [...labelNames, 'le'],
    registers,
  });
  for (const { labels, sums } of rows) {
    inFlight.set(labels, sums.inFlight);
    for (const { le, count } of cumulative(sums)) firstBytes.set({ ...labels, le: boundLabel(le) }, count);
  }
  const received = new Counter({
    name: 'minio_bucket_traffic_received_bytes',
    help: 'Bytes of bodies that came to the bucket',
    labelNames: ['bucket'],
    registers,
  });
  const sent = new Counter({
    name: 'minio_bucket_traffic_sent_bytes',
    help: 'Bytes of bodies that were read from the bucket',
    labelNames: ['bucket'],
    registers,
  });
  for (const { bucket, ...sums } of buckets) {
    received.inc({ bucket }, sums.received);
    sent.inc({ bucket }, sums.sent);
  }
}

const perBucket = [
  ['minio_bucket_usage_total_bytes', 'Bytes of the versions in the bucket', ({ bytes }) => bytes],
  ['minio_bucket_usage_object_total', 'Current objects in the bucket', ({ objects }) => objects],
  ['minio_bucket_usage_version_total', 'Versions and delete markers in the bucket', ({ versions }) => versions],
  ['minio_bucket_usage_deletemarker_total', 'Delete markers in the bucket', ({ deleteMarkers }) => deleteMarkers],
  ['coffer_bucket_incomplete_uploads', 'Uploads that were not completed', ({ uploads }) => uploads],
  ['coffer_bucket_incomplete_upload_bytes', 'Bytes of the parts of those', ({ uploadBytes }) => uploadBytes],
] as const satisfies readonly (readonly [string, string, (bucket: BucketUsage) => number])[];

/** Adds the content of each bucket, under the names that MinIO's dashboard of buckets reads. */
export function addBucketUsage(registry: Registry, usage: Usage, now: number): void {
  for (const [name, help, valueOf] of perBucket) {
    const gauge = new Gauge({ name, help, labelNames: ['bucket'], registers: [registry] });
    for (const bucket of usage.buckets) gauge.set({ bucket: bucket.bucket }, valueOf(bucket));
  }
  const sizes = new Gauge({
    name: 'minio_bucket_objects_size_distribution',
    help: 'Objects in the bucket by intervals of their sizes',
    labelNames: ['bucket', 'range'],
    registers: [registry],
  });
  for (const bucket of usage.buckets)
    setSizes(bucket, (range, count) => sizes.set({ bucket: bucket.bucket, range }, count));
  const keys = new Gauge({
    name: 'minio_bucket_objects_version_distribution',
    help: 'Keys of the bucket by intervals of their versions',
    labelNames: ['bucket', 'range'],
    registers: [registry],
  });
  for (const bucket of usage.buckets) {
    for (const [range, count] of Object.entries(namedVersionCounts(bucket)))
      keys.set({ bucket: bucket.bucket, range }, count);
  }
  addAge(registry, usage, now);
}

const ofCluster = [
  ['minio_cluster_usage_total_bytes', 'Bytes of all versions', ({ bytes }) => bytes],
  ['minio_cluster_usage_object_total', 'Current objects in all buckets', ({ objects }) => objects],
  ['minio_cluster_usage_version_total', 'Versions and delete markers in all buckets', ({ versions }) => versions],
  ['minio_cluster_usage_deletemarker_total', 'Delete markers in all buckets', ({ deleteMarkers }) => deleteMarkers],
] as const satisfies readonly (readonly [string, string, (usage: Usage) => number])[];

/** Adds the content of all buckets together. */
export function addClusterUsage(registry: Registry, usage: Usage, now: number): void {
  const registers = [registry];
  for (const [name, help, valueOf] of ofCluster) new Gauge({ name, help, registers }).set(valueOf(usage));
  const sizes = new Gauge({
    name: 'minio_cluster_objects_size_distribution',
    help: 'Objects by intervals of their sizes',
    labelNames: ['range'],
    registers,
  });
  setSizes(usage, (range, count) => sizes.set({ range }, count));
  const keys = new Gauge({
    name: 'minio_cluster_objects_version_distribution',
    help: 'Keys by intervals of their versions',
    labelNames: ['range'],
    registers,
  });
  for (const bucket of usage.buckets) {
    for (const [range, count] of Object.entries(namedVersionCounts(bucket))) keys.inc({ range }, count);
  }
  addTiers(registry, usage);
  addAge(registry, usage, now);
}

const ofTier = [
  ['minio_cluster_ilm_transitioned_bytes', 'Bytes in a tier', ({ bytes }) => bytes],
  ['minio_cluster_ilm_transitioned_objects', 'Current objects in a tier', ({ objects }) => objects],
  ['minio_cluster_ilm_transitioned_versions', 'Versions in a tier', ({ versions }) => versions],
] as const satisfies readonly (readonly [string, string, (usage: TierUsage) => number])[];

function addTiers(registry: Registry, { tiers = {} }: Usage): void {
  for (const [name, help, valueOf] of ofTier) {
    const gauge = new Gauge({ name, help, labelNames: ['tier'], registers: [registry] });
    for (const [tier, usage] of Object.entries(tiers)) gauge.set({ tier }, valueOf(usage));
  }
}

function setSizes({ sizes }: StoredSums, set: (range: string, count: number) => void): void {
  for (const [range, count] of Object.entries(namedSizes(sizes))) set(range, count);
}

/** Adds the age of the figures, to either group. */
function addAge(registry: Registry, { ended }: Usage, now: number): void {
  const age = new Gauge({
    name: 'minio_usage_last_activity_nano_seconds',
    help: 'Nanoseconds since objects were counted',
    registers: [registry],
  });
  age.set(Math.max(0, now - ended) * 1e6);
}
