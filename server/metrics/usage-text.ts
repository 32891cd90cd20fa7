import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { namedSizes } from '../usage/size-intervals.ts';
import type { BucketUsage, StoredSums, Usage } from '../usage/usage.ts';

const perBucket = [
  ['minio_bucket_usage_total_bytes', 'Bytes of the objects in the bucket', ({ bytes }) => bytes],
  ['minio_bucket_usage_object_total', 'Objects in the bucket', ({ objects }) => objects],
  ['coffer_bucket_incomplete_uploads', 'Uploads that were not completed', ({ uploads }) => uploads],
  ['coffer_bucket_incomplete_upload_bytes', 'Bytes of the parts of those', ({ uploadBytes }) => uploadBytes],
] as const satisfies readonly (readonly [string, string, (bucket: BucketUsage) => number])[];

/** What each bucket holds, under the names that MinIO's dashboard of buckets reads. */
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
  addAge(registry, usage, now);
}

/** What all buckets hold together. */
export function addClusterUsage(registry: Registry, usage: Usage, now: number): void {
  const registers = [registry];
  new Gauge({ name: 'minio_cluster_usage_total_bytes', help: 'Bytes of all objects', registers }).set(usage.bytes);
  new Gauge({ name: 'minio_cluster_usage_object_total', help: 'Objects in all buckets', registers }).set(usage.objects);
  const sizes = new Gauge({
    name: 'minio_cluster_objects_size_distribution',
    help: 'Objects by intervals of their sizes',
    labelNames: ['range'],
    registers,
  });
  setSizes(usage, (range, count) => sizes.set({ range }, count));
  addAge(registry, usage, now);
}

function setSizes({ sizes }: StoredSums, set: (range: string, count: number) => void): void {
  for (const [range, count] of Object.entries(namedSizes(sizes))) set(range, count);
}

/** Beside the figures, in either group: how old they are. */
function addAge(registry: Registry, { ended }: Usage, now: number): void {
  const age = new Gauge({
    name: 'minio_usage_last_activity_nano_seconds',
    help: 'Nanoseconds since objects were counted',
    registers: [registry],
  });
  age.set(Math.max(0, now - ended) * 1e6);
}
