import { droppedLogLinesHelp } from '../../../platform/output/log-output.ts';
import {
  Counter,
  Gauge,
  Histogram,
  Registry,
  type MetricObjectWithValues,
  type MetricValueWithName,
} from 'prom-client';
import type { Usage } from '../usage/usage.ts';
import { apiLabel, boundLabel, cumulative, addBuckets, addBucketUsage, addClusterUsage } from './bucket-text.ts';
import type { BackgroundTask, Integrity, MetricGroup, MetricValues } from './metric-sources.ts';
import { addReplication } from './replication-text.ts';
import type { OperationSums } from './request-counters.ts';

interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/**
 * Writes the values of a group in Prometheus' text format, under MinIO's names, so that existing dashboards and alerts find them.
 * MinIO's metrics without a counterpart are left out.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export async function metricsText(values: MetricValues, group: MetricGroup): Promise<MetricsText> {
  const registry = new Registry();
  registry.setDefaultLabels({ server: values.server });
  if (group === 'cluster' || group === 'node') addRequests(registry, values);
  if (group === 'bucket') {
    addBuckets(registry, values.byBucket());
    addReplication(registry, values.replication ?? [], values.now);
  } else addNode(registry, values);
  if (group === 'cluster' || group === 'node') addAudit(registry, values);
  if (group === 'cluster') addNotifications(registry, values);
  if (group === 'cluster') addCluster(registry, values);
  if (values.usage !== undefined) addUsage(registry, values.usage, group, values.now);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

function addUsage(registry: Registry, usage: Usage, group: MetricGroup, now: number): void {
  if (group === 'bucket') addBucketUsage(registry, usage, now);
  if (group === 'cluster') addClusterUsage(registry, usage, now);
}

const perOperation = [
  ['minio_s3_requests_total', 'S3 requests that ended', ({ total }) => total],
  ['minio_s3_requests_errors_total', 'S3 requests answered by a status of 4xx or 5xx', errorsOf],
  [
    'minio_s3_requests_4xx_errors_total',
    'S3 requests answered by a status of 4xx, or by 501',
    (sums) => sums.clientErrors,
  ],
  [
    'minio_s3_requests_5xx_errors_total',
    'S3 requests answered by a status of 5xx but 501',
    (sums) => sums.serverErrors,
  ],
  ['minio_s3_requests_canceled_total', 'S3 requests whose client went away', ({ canceled }) => canceled],
] as const satisfies readonly (readonly [string, string, (sums: OperationSums) => number])[];

function errorsOf({ clientErrors, serverErrors }: OperationSums): number {
  return clientErrors + serverErrors;
}

function addRequests(registry: Registry, { requests }: MetricValues): void {
  const registers = [registry];
  const labelNames = ['api'];
  for (const [name, help, valueOf] of perOperation) {
    const counter = new Counter({ name, help, labelNames, registers });
    for (const sums of requests.operations) counter.inc({ api: apiLabel(sums.operation) }, valueOf(sums));
  }
  const inFlight = new Gauge({
    name: 'minio_s3_requests_inflight_total',
    help: 'S3 requests that are being answered',
    labelNames,
    registers,
  });
  for (const sums of requests.operations) inFlight.set({ api: apiLabel(sums.operation) }, sums.inFlight);
  const counters = [
    ['minio_s3_requests_rejected_auth_total', 'S3 requests without a valid signature', requests.rejectedAuth],
    ['minio_s3_requests_rejected_timestamp_total', 'S3 requests of another time', requests.rejectedTimestamp],
    ['minio_s3_traffic_received_bytes', 'Bytes of HTTP received at the S3 port', requests.received],
    ['minio_s3_traffic_sent_bytes', 'Bytes of HTTP sent from the S3 port', requests.sent],
  ] as const;
  for (const [name, help, value] of counters) new Counter({ name, help, registers }).inc(value);
  addFirstBytes(registry, requests.operations);
}

/** Written as MinIO's gauge by bound, for its dashboards, and as a histogram, which can be aggregated and has quantiles. */
function addFirstBytes(registry: Registry, operations: readonly OperationSums[]): void {
  const help = 'Seconds from the head of an S3 request to the first byte of its answer';
  const gauge = new Gauge({
    name: 'minio_s3_requests_ttfb_seconds_distribution',
    help,
    labelNames: ['api', 'le'],
    registers: [registry],
  });
  for (const sums of operations) {
    for (const { le, count } of cumulative(sums)) {
      gauge.set({ api: apiLabel(sums.operation), le: boundLabel(le) }, count);
    }
  }
  registry.registerMetric(new CountedHistogram('minio_s3_ttfb_seconds_distribution', help, operations));
}

/** A histogram whose values were counted elsewhere. The class `Histogram` writes only its own observations. */
class CountedHistogram extends Gauge<'api' | 'le'> {
  readonly #description: Histogram;
  readonly #name: string;
  readonly #operations: readonly OperationSums[];

  constructor(name: string, help: string, operations: readonly OperationSums[]) {
    super({ name, help, registers: [] });
    this.#description = new Histogram({ name, help, registers: [] });
    this.#name = name;
    this.#operations = operations;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<'api' | 'le'>>> {
    const name = this.#name;
    const values = this.#operations.flatMap((sums) => {
      const api = apiLabel(sums.operation);
      const buckets = cumulative(sums);
      return [
        ...buckets.map(({ le, count }) => ({ metricName: `${name}_bucket`, labels: { api, le }, value: count })),
        { metricName: `${name}_sum`, labels: { api }, value: sums.firstByteSeconds },
        { metricName: `${name}_count`, labels: { api }, value: buckets.at(-1)?.count ?? 0 },
      ];
    });
    return { ...(await this.#description.get()), values };
  }
}

type Row = readonly [name: string, help: string, value: number | undefined, labels?: Readonly<Record<string, string>>];

function addNode(registry: Registry, values: MetricValues): void {
  const { process, space, version, startedAt, now, dataFolder, leads, recordsReachable, certificateExpires } = values;
  const drive = { drive: dataFolder };
  addCounters(registry, [
    ['minio_node_process_cpu_total_seconds', 'CPU time of the process, seconds', process.cpuSeconds],
    ['minio_node_io_rchar_bytes', 'Bytes read by the process, from caches too', process.io?.rchar],
    ['minio_node_io_read_bytes', 'Bytes that the process had read from storage', process.io?.readBytes],
    ['minio_node_io_wchar_bytes', 'Bytes written by the process, to caches too', process.io?.wchar],
    ['minio_node_io_write_bytes', 'Bytes that the process had written to storage', process.io?.writeBytes],
    ['coffer_log_lines_dropped_total', droppedLogLinesHelp, values.droppedLogLines],
  ]);
  addGauges(registry, [
    ['minio_node_process_resident_memory_bytes', 'Resident memory of the process', process.residentBytes],
    ['minio_node_process_starttime_seconds', 'Start of the process, seconds since 1970', startedAt / 1_000],
    ['minio_node_process_uptime_seconds', 'Seconds since the start of the process', (now - startedAt) / 1_000],
    ['minio_node_file_descriptor_open_total', 'Open file descriptors of the process', process.openFiles],
    ['minio_node_file_descriptor_limit_total', 'Most file descriptors of the process', process.maxOpenFiles],
    ['minio_node_drive_total_bytes', 'Size of the file system of the objects', space?.total, drive],
    ['minio_node_drive_free_bytes', 'Free bytes of the file system of the objects', space?.free, drive],
    ['minio_node_drive_used_bytes', 'Used bytes of the file system of the objects', usedOf(space), drive],
    [
      'minio_node_drive_free_inodes',
      'Files that the file system of the objects still takes',
      space?.inodes?.free,
      drive,
    ],
    ['minio_node_drive_total_inodes', 'Files that the file system of the objects takes', space?.inodes?.total, drive],
    ['coffer_background_work', '1 where the server does the background work of all', Number(leads)],
    ['coffer_records_reachable', '1 where the record store answers', Number(recordsReachable)],
    [
      'coffer_tls_certificate_expires_seconds',
      'End of the validity of the certificate of S3 and the console, seconds since 1970',
      inSeconds(certificateExpires),
    ],
    ['minio_software_version_info', 'Version of the server', 1, { version }],
  ]);
}

/** Adds the counters of each audit target. */
function addAudit(registry: Registry, { audit }: MetricValues): void {
  const registers = [registry];
  const labelNames = ['target_id'];
  const sent = { name: 'minio_audit_total_messages', help: 'Audit entries that were delivered since the start' };
  const dropped = { name: 'minio_audit_failed_messages', help: 'Audit entries that were given up since the start' };
  const waiting = { name: 'minio_audit_target_queue_length', help: 'Audit entries that wait to be delivered' };
  if (audit.length === 0) return;
  const counters = [
    new Counter({ ...sent, labelNames, registers }),
    new Counter({ ...dropped, labelNames, registers }),
  ];
  const gauge = new Gauge({ ...waiting, labelNames, registers });
  for (const sums of audit) {
    const labels = { target_id: sums.target };
    counters[0]?.inc(labels, sums.sent);
    counters[1]?.inc(labels, sums.dropped);
    gauge.set(labels, sums.waiting);
  }
}

/** Adds the queues of notification targets, which all servers share. */
function addNotifications(registry: Registry, { notifications = [], now }: MetricValues): void {
  const registers = [registry];
  const labelNames = ['target_id'];
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  if (notifications.length === 0) return;
  const waiting = gauge('minio_notify_target_queue_length', 'Events that wait to be delivered');
  const sent = gauge('minio_notify_target_total_events', 'Events that were delivered since the lease holder began');
  const failed = gauge('minio_notify_target_failed_events', 'Deliveries that failed since the lease holder began');
  const dropped = gauge('coffer_notify_target_dropped_events', 'Events that found the queue full');
  const held = gauge(
    'coffer_notify_target_held_events',
    'Events that the target has refused, and that wait for another attempt',
  );
  const heldDropped = gauge('coffer_notify_target_held_dropped_events', 'Refused events that administrators dropped');
  const heldRetried = gauge(
    'coffer_notify_target_held_retried_events',
    'Attempts for refused events that administrators asked for',
  );
  const age = gauge('coffer_notify_target_oldest_event_seconds', 'Age of the oldest event that waits, in seconds');
  for (const { target, events, delivered, failures, oldest, ...queue } of notifications) {
    const labels = { target_id: target };
    waiting.set(labels, events);
    sent.set(labels, delivered);
    failed.set(labels, failures);
    dropped.set(labels, queue.dropped);
    held.set(labels, queue.held?.events ?? 0);
    heldDropped.set(labels, queue.heldDropped);
    heldRetried.set(labels, queue.heldRetried);
    age.set(labels, oldest === undefined ? 0 : Math.max(0, (now - oldest) / 1_000));
  }
}

const perTask = [
  [
    'coffer_background_task_failing',
    '1 where the last attempt of the task failed',
    ({ failure }) => Number(failure !== undefined),
  ],
  [
    'coffer_background_task_failing_since_seconds',
    'Since when it fails, seconds since 1970',
    ({ failure }) => inSeconds(failure?.since),
  ],
  [
    'coffer_background_task_last_success_seconds',
    'When it succeeded last, to ten minutes',
    (task) => inSeconds(task.lastSuccess),
  ],
] as const satisfies readonly (readonly [string, string, (task: BackgroundTask) => number | undefined])[];

function addBackgroundTasks(registry: Registry, tasks: readonly BackgroundTask[]): void {
  for (const [name, help, valueOf] of perTask) {
    const gauge = new Gauge({ name, help, labelNames: ['task'], registers: [registry] });
    for (const task of tasks) {
      const value = valueOf(task);
      if (value !== undefined) gauge.set({ task: task.task }, value);
    }
  }
}

function addCluster(registry: Registry, values: MetricValues): void {
  addBackgroundTasks(registry, values.backgroundTasks ?? []);
  addSegments(registry, values.integrity?.segments);
  addKeyServers(registry, values.keyServers);
  const { healthy, space, buckets, keyServiceOnline, liveServers, integrity, userStatusChecks } = values;
  const scrub = integrity?.scrub;
  addCounters(registry, [
    [
      'coffer_identity_check_people_total',
      'People that identity providers were asked about',
      userStatusChecks?.checked,
    ],
    ['coffer_identity_check_cut_off_total', 'People whose access was ended', userStatusChecks?.cutOff],
    ['coffer_identity_check_unreachable_total', 'Times that a provider could not tell', userStatusChecks?.unreachable],
  ]);
  addGauges(registry, [
    ['minio_cluster_health_status', '1 where the server is ready', healthy ? 1 : 0],
    ['minio_cluster_capacity_raw_total_bytes', 'Size of the file system of the objects', space?.total],
    ['minio_cluster_capacity_raw_free_bytes', 'Free bytes of the file system of the objects', space?.free],
    ['minio_cluster_capacity_usable_total_bytes', 'Size of the file system of the objects', space?.total],
    ['minio_cluster_capacity_usable_free_bytes', 'Free bytes of the file system of the objects', space?.free],
    ['minio_cluster_bucket_total', 'Buckets', buckets],
    ['minio_cluster_nodes_online_total', 'Servers that are there, this one too', Math.max(1, liveServers)],
    ['coffer_objects_quarantined', 'Objects that are damaged and not served', integrity?.quarantined],
    [
      'coffer_scrub_started_seconds',
      'Start of the last pass of the scrub, seconds since 1970',
      inSeconds(scrub?.started),
    ],
    ['coffer_scrub_finished_seconds', 'Its end; absent while it is under way', inSeconds(scrub?.finished)],
    ['coffer_scrub_objects', 'Objects that this pass has looked at', scrub?.objects],
    ['coffer_scrub_bytes', 'Bytes that this pass has read', scrub?.bytes],
    [
      'coffer_identity_check_round_seconds',
      'When everyone was asked about last, seconds since 1970',
      inSeconds(userStatusChecks?.lastRound),
    ],
    ['coffer_cluster_servers', 'Servers that share the records and are there', liveServers],
    [
      'minio_cluster_kms_online',
      '1 where the key service answers and has the default key',
      keyServiceOnline === undefined ? undefined : Number(keyServiceOnline),
    ],
  ]);
}

function addKeyServers(registry: Registry, keyServers: MetricValues['keyServers']): void {
  if (keyServers === undefined) return;
  const gauge = new Gauge({
    name: 'coffer_kms_endpoint_online',
    help: '1 where this endpoint of the key service answers this server',
    labelNames: ['endpoint'],
    registers: [registry],
  });
  for (const [endpoint, state] of Object.entries(keyServers)) gauge.set({ endpoint }, state === 'online' ? 1 : 0);
}

function addSegments(registry: Registry, segments: Integrity['segments']): void {
  addCounters(registry, [
    ['coffer_segments_removed_total', 'Segments that compaction removed', segments?.removed],
    ['coffer_segment_bodies_moved_total', 'Bodies that compaction moved', segments?.moved],
    ['coffer_segment_moved_bytes_total', 'Bytes of these bodies', segments?.movedBytes],
  ]);
  addGauges(registry, [
    ['coffer_segments', 'Files of packed bodies', segments?.segments],
    ['coffer_segment_bytes', 'Their size', segments?.bytes],
    ['coffer_segment_garbage_bytes', 'Bytes of them that no body uses', segments?.garbage],
  ]);
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

function addCounters(registry: Registry, rows: readonly Row[]): void {
  for (const [name, help, value] of rows) {
    if (value !== undefined) new Counter({ name, help, registers: [registry] }).inc(value);
  }
}

function addGauges(registry: Registry, rows: readonly Row[]): void {
  for (const [name, help, value, labels = {}] of rows) {
    if (value === undefined) continue;
    new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry] }).set(labels, value);
  }
}

function usedOf(space: MetricValues['space']): number | undefined {
  return space && space.total - space.free;
}
