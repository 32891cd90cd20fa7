import { describe, expect, it } from 'vitest';
import type { MetricValues } from './metric-sources.ts';
import { metricsText } from './metrics-text.ts';
import { BucketCounters, bucketCounterMemory } from './bucket-counters.ts';
import { RequestCounters, requestCounterMemory } from './request-counters.ts';

const counters = new RequestCounters(requestCounterMemory(1), 0, ['GetObject', 'CreateMultipartUpload', 'PutObject']);
for (const [operation, outcome, seconds] of [
  ['GetObject', 200, 0.003],
  ['GetObject', 404, 0.2],
  ['CreateMultipartUpload', 500, 20],
] as const) {
  const place = counters.placeOf(operation) ?? -1;
  counters.began(place);
  counters.ended(place, outcome, seconds);
}
counters.moved(100, 200);

const byBucket = new BucketCounters(bucketCounterMemory(1), 0, ['GetObject', 'CreateMultipartUpload', 'PutObject'], {
  ask: () => undefined,
});
byBucket.takeList({ names: ['photos'], answers: 0 });
for (const outcome of [200, 404]) {
  byBucket.ended('photos', 'GetObject', byBucket.began('photos', 'GetObject'), {
    outcome,
    firstByteSeconds: 0.003,
    received: 5,
    sent: 7,
  });
}

const values: MetricValues = {
  requests: counters.sums(),
  byBucket: () => byBucket.sums(),
  audit: [],
  healthy: true,
  leads: true,
  liveServers: 3,
  recordsReachable: true,
  space: { free: 30, total: 100 },
  buckets: 2,
  keyServiceOnline: false,
  process: { cpuSeconds: 1.5, residentBytes: 4096, openFiles: 7 },
  droppedLogLines: 5,
  version: '1.2.3',
  startedAt: 1_000_000,
  now: 1_060_000,
  dataFolder: '/data',
  server: 'coffer-0:9000',
};

async function lines(group: 'cluster' | 'node' | 'bucket' | 'resource', more: Partial<MetricValues> = {}) {
  const { text } = await metricsText({ ...values, ...more }, group);
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

const names = async (...args: Parameters<typeof lines>) =>
  new Set((await lines(...args)).map((line) => line.replace(/[ {].*/, '')));

it.each(['cluster', 'node', 'resource'] as const)(
  'counts in the group %s the lines that the log has dropped',
  async (group) => {
    expect(await lines(group)).toContain('coffer_log_lines_dropped_total{server="coffer-0:9000"} 5');
  },
);

it.each(['cluster', 'node', 'resource'] as const)('tells in the group %s when the certificate ends', async (group) => {
  expect(await lines(group, { certificateExpires: 1_800_000_000_500 })).toContain(
    'coffer_tls_certificate_expires_seconds{server="coffer-0:9000"} 1800000000.5',
  );
  expect(await names(group)).not.toContain('coffer_tls_certificate_expires_seconds');
});

it('shows the replication of each bucket among the metrics of buckets', async () => {
  const replication = [
    {
      bucket: 'photos',
      targetArn: 'arn:minio:replication::1:copies',
      sent: { count: 3, bytes: 30 },
      failed: { count: 1, bytes: 10 },
      waiting: { count: 2, bytes: 20 },
      oldest: values.now - 1_500,
      online: false,
      proxied: { get: 5, getFailed: 1, head: 4, headFailed: 0, tags: 3, tagsFailed: 2 },
    },
  ];
  const found = (await lines('bucket', { replication })).filter((line) => line.includes('replication'));
  const labels = '{bucket="photos",targetArn="arn:minio:replication::1:copies",server="coffer-0:9000"}';
  expect(found).toContain(`minio_bucket_replication_sent_bytes${labels} 30`);
  expect(found).toContain(`minio_bucket_replication_proxied_get_requests_total${labels} 5`);
  expect(found).toContain(`minio_bucket_replication_proxied_get_tagging_requests_total${labels} 3`);
  expect(found).toContain(`coffer_bucket_replication_oldest_change_seconds${labels} 1.5`);
  expect(found).toContain(`coffer_bucket_replication_target_online${labels} 0`);
  expect(found).toHaveLength(14);
  expect((await lines('cluster', { replication })).join()).not.toContain('replication');
});

const sample = (suffix: string, labels: string) =>
  `minio_s3_ttfb_seconds_distribution_${suffix}{${labels}server="coffer-0:9000"}`;

const hasOneOfEach = (group: ReadonlySet<string>) =>
  ['minio_cluster_bucket_total', 'minio_s3_requests_total', 'minio_node_drive_used_bytes'].map((name) =>
    group.has(name),
  );

describe('the text of the metrics', () => {
  it('is in the format that every Prometheus reads', async () => {
    const { contentType } = await metricsText(values, 'cluster');
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  });
  it('has what identity providers were asked about people, once they were', async () => {
    const userStatusChecks = { checked: 5, cutOff: 1, unreachable: 2, lastRound: 3_000 };
    expect(await lines('cluster', { userStatusChecks })).toEqual(
      expect.arrayContaining([
        'coffer_identity_check_people_total{server="coffer-0:9000"} 5',
        'coffer_identity_check_cut_off_total{server="coffer-0:9000"} 1',
        'coffer_identity_check_unreachable_total{server="coffer-0:9000"} 2',
        'coffer_identity_check_round_seconds{server="coffer-0:9000"} 3',
      ]),
    );
    expect([...(await names('cluster'))].filter((name) => name.includes('identity_check'))).toEqual([]);
  });
  it('has requests by operation, under the names of MinIO', async () => {
    expect(await lines('cluster')).toEqual(
      expect.arrayContaining([
        'minio_s3_requests_total{api="getobject",server="coffer-0:9000"} 2',
        'minio_s3_requests_total{api="newmultipartupload",server="coffer-0:9000"} 1',
        'minio_s3_requests_errors_total{api="getobject",server="coffer-0:9000"} 1',
        'minio_s3_requests_4xx_errors_total{api="getobject",server="coffer-0:9000"} 1',
        'minio_s3_requests_5xx_errors_total{api="getobject",server="coffer-0:9000"} 0',
        'minio_s3_requests_5xx_errors_total{api="newmultipartupload",server="coffer-0:9000"} 1',
        'minio_s3_requests_inflight_total{api="getobject",server="coffer-0:9000"} 0',
        'minio_s3_traffic_received_bytes{server="coffer-0:9000"} 100',
        'minio_s3_traffic_sent_bytes{server="coffer-0:9000"} 200',
      ]),
    );
  });
  it('does not mention what was never asked for', async () => {
    expect((await lines('cluster')).join('\n')).not.toContain('putobject');
  });
  it('says that the times to the first byte are a histogram', async () => {
    expect((await metricsText(values, 'node')).text).toContain('# TYPE minio_s3_ttfb_seconds_distribution histogram\n');
  });
  it('has times to the first byte as a histogram', async () => {
    expect(await lines('node')).toEqual(
      expect.arrayContaining([
        `${sample('bucket', 'api="getobject",le="0.005",')} 1`,
        `${sample('bucket', 'api="getobject",le="0.1",')} 1`,
        `${sample('bucket', 'api="getobject",le="0.25",')} 2`,
        `${sample('bucket', 'api="getobject",le="+Inf",')} 2`,
        `${sample('sum', 'api="getobject",')} 0.203`,
        `${sample('count', 'api="getobject",')} 2`,
        `${sample('bucket', 'api="newmultipartupload",le="10",')} 0`,
        `${sample('bucket', 'api="newmultipartupload",le="+Inf",')} 1`,
      ]),
    );
  });
  it('has them as the dashboards of MinIO look for them', async () => {
    expect(await lines('node')).toContain(
      'minio_s3_requests_ttfb_seconds_distribution{api="getobject",le="0.250",server="coffer-0:9000"} 2',
    );
  });
  it('leaves out what is not known', async () => {
    const unknown = await names('cluster', { space: undefined, buckets: undefined, keyServiceOnline: undefined });
    expect([...unknown].filter((name) => /capacity|drive|bucket_total|kms|limit|_io_/.test(name))).toEqual([]);
  });
  it('tells of a key service that does not answer, and of a server that is not ready', async () => {
    expect(await lines('cluster', { healthy: false })).toEqual(
      expect.arrayContaining([
        'minio_cluster_kms_online{server="coffer-0:9000"} 0',
        'minio_cluster_health_status{server="coffer-0:9000"} 0',
      ]),
    );
  });
  it('is divided as MinIO divides it', async () => {
    const [cluster, node, resource] = await Promise.all([names('cluster'), names('node'), names('resource')]);
    expect([hasOneOfEach(cluster), hasOneOfEach(node), hasOneOfEach(resource)]).toEqual([
      [true, true, true],
      [false, true, true],
      [false, false, true],
    ]);
  });
  it('has requests and traffic by bucket, under the names of MinIO', async () => {
    const found = await lines('bucket');
    expect(found).toEqual(
      expect.arrayContaining([
        'minio_bucket_requests_total{api="getobject",bucket="photos",server="coffer-0:9000"} 2',
        'minio_bucket_requests_4xx_errors_total{api="getobject",bucket="photos",server="coffer-0:9000"} 1',
        'minio_bucket_requests_5xx_errors_total{api="getobject",bucket="photos",server="coffer-0:9000"} 0',
        'minio_bucket_requests_canceled_total{api="getobject",bucket="photos",server="coffer-0:9000"} 0',
        'minio_bucket_requests_inflight_total{api="getobject",bucket="photos",server="coffer-0:9000"} 0',
        'minio_bucket_requests_ttfb_seconds_distribution{api="getobject",bucket="photos",le="0.005",server="coffer-0:9000"} 2',
        'minio_bucket_requests_ttfb_seconds_distribution{api="getobject",bucket="photos",le="+Inf",server="coffer-0:9000"} 2',
        'minio_bucket_traffic_received_bytes{bucket="photos",server="coffer-0:9000"} 10',
        'minio_bucket_traffic_sent_bytes{bucket="photos",server="coffer-0:9000"} 14',
      ]),
    );
    expect(found.filter((line) => !line.startsWith('minio_bucket_'))).toEqual([]);
  });
  it('has what became of audit entries, for each place that they go to', async () => {
    const audit = [{ target: 'webhook:SIEM', sent: 5, dropped: 1, waiting: 2 }];
    const expected = [
      'minio_audit_total_messages{target_id="webhook:SIEM",server="coffer-0:9000"} 5',
      'minio_audit_failed_messages{target_id="webhook:SIEM",server="coffer-0:9000"} 1',
      'minio_audit_target_queue_length{target_id="webhook:SIEM",server="coffer-0:9000"} 2',
    ];
    expect(await lines('cluster', { audit })).toEqual(expect.arrayContaining(expected));
    expect(await lines('node', { audit })).toEqual(expect.arrayContaining(expected));
    expect([...(await names('node'))].filter((name) => name.includes('audit'))).toEqual([]);
  });
  it('has what buckets hold once it was counted, in the groups where MinIO has it', async () => {
    const bucket = {
      bucket: 'photos',
      objects: 3,
      bytes: 5_000,
      versions: 6,
      deleteMarkers: 2,
      uploads: 0,
      uploadBytes: 0,
      sizes: [3],
      keys: [],
    };
    const usage = { ...bucket, began: 1, ended: 2, answers: 0, unreadable: 0, buckets: [bucket] };
    expect(await names('bucket', { usage })).toContain('minio_bucket_usage_total_bytes');
    expect(await names('cluster', { usage })).toContain('minio_cluster_usage_total_bytes');
    expect(await names('node', { usage })).not.toContain('minio_cluster_usage_total_bytes');
    expect(await names('cluster')).not.toContain('minio_cluster_usage_total_bytes');
    const tiers = { COLD: { objects: 2, versions: 3, bytes: 40 } };
    expect(await lines('cluster', { usage: { ...usage, tiers } })).toEqual(
      expect.arrayContaining([
        'minio_cluster_ilm_transitioned_bytes{tier="COLD",server="coffer-0:9000"} 40',
        'minio_cluster_ilm_transitioned_objects{tier="COLD",server="coffer-0:9000"} 2',
        'minio_cluster_ilm_transitioned_versions{tier="COLD",server="coffer-0:9000"} 3',
      ]),
    );
  });
  it('has how each background task fares', async () => {
    const backgroundTasks = [
      { task: 'scrub', lastSuccess: 1_050_000 },
      { task: 'usage', failure: { since: 1_020_000 } },
    ];
    const found = await lines('cluster', { backgroundTasks });
    expect(found.filter((line) => line.startsWith('coffer_background_task'))).toEqual([
      'coffer_background_task_failing{task="scrub",server="coffer-0:9000"} 0',
      'coffer_background_task_failing{task="usage",server="coffer-0:9000"} 1',
      'coffer_background_task_failing_since_seconds{task="usage",server="coffer-0:9000"} 1020',
      'coffer_background_task_last_success_seconds{task="scrub",server="coffer-0:9000"} 1050',
    ]);
  });
  it('has how many servers there are', async () => {
    expect(await lines('cluster')).toContain('minio_cluster_nodes_online_total{server="coffer-0:9000"} 3');
    expect(await lines('cluster', { liveServers: 0 })).toContain(
      'minio_cluster_nodes_online_total{server="coffer-0:9000"} 1',
    );
  });
});
