import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { apiLabel } from './api-label.ts';
import type { BucketOperationSums, BucketSums } from './bucket-counters.ts';
import { boundLabel, cumulative } from './cumulative.ts';

const perOperation = [
  ['minio_bucket_requests_total', 'S3 requests to the bucket that ended', ({ total }) => total],
  ['minio_bucket_requests_4xx_errors_total', 'Those answered by a status of 4xx', (sums) => sums.clientErrors],
  ['minio_bucket_requests_5xx_errors_total', 'Those answered by a status of 5xx', (sums) => sums.serverErrors],
  ['minio_bucket_requests_canceled_total', 'Those whose client went away', ({ canceled }) => canceled],
] as const satisfies readonly (readonly [string, string, (sums: BucketOperationSums) => number])[];

/** Requests by bucket, under the names that MinIO's dashboard of buckets reads. */
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
