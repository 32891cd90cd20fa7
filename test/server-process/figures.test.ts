import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { counts, domains, startFiguredServer, storedBuckets } from '../support/admin/figured-server.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { runCoffer } from '../support/server/run-coffer.ts';

let figured: Awaited<ReturnType<typeof startFiguredServer>>;
beforeAll(async () => {
  figured = await startFiguredServer();
}, 180_000);
afterAll(() => figured?.stop());

const call = (method: string, target: string) => adminCall(figured.server.s3, figured.server, method, target);
const valueOf = async (target: string) => (await call('GET', target)).value as Record<string, never>;

async function auditStates(): Promise<Record<string, { status: string }>> {
  const { value } = await call('GET', 'info');
  const { audit } = (value as { services: { audit: Record<string, { status: string }>[] } }).services;
  return Object.assign({}, ...audit) as Record<string, { status: string }>;
}

/**
 * Returns the places of what may be a constant in place of a value: zeros, empty texts, lists and objects, `false`, and `null`. Fields of a
 * list have a star for their place in it.
 */
function emptyPlaces(value: unknown, place = ''): string[] {
  if (value === 0 || value === '' || value === false || value === null) return [place.slice(1)];
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  if (entries.length === 0) return [place.slice(1)];
  const places = entries.flatMap(([name, part]) => emptyPlaces(part, `${place}.${Array.isArray(value) ? '*' : name}`));
  return [...new Set(places)].toSorted();
}

/** One set of one drive: nothing is lost to parity, and nothing heals. The places of pools, sets and drives are counted from 0. */
const oneDrive =
  /parit(?:y|ies)$|offlinedisks(?:$|\.)|healdisks$|^(?:pools\.0\.0\.id|.*\.(?:disk|pool|set)_index)$|GatewayOnline$/i;
/** Classes of sizes, and of numbers of versions, in which this test has no object. */
const histogram = /istogram\./;

const emptyOnPurpose: Readonly<Record<string, readonly RegExp[]>> = {
  // There are no targets of the log, and nothing to warn of. The key is in the settings: no server of keys has an address.
  info: [oneDrive, /^(?:services\.logger|services\.kms\.endpoints|warnings)$/],
  // A MinIO has the settings of buckets and the usage of prefixes there; those are absent. One of the buckets has no versions.
  accountinfo: [
    oneDrive,
    histogram,
    /^Buckets\.\*\.(?:details|prefixUsage|versions|deleteMarkers)$/,
    /^Server\.OnlineDisks$/,
  ],
  storageinfo: [oneDrive],
  datausageinfo: [histogram, /^bucketsUsageInfo\.plain\.(?:versions|deleteMarkers)Count$/],
  // A MinIO has such parts, and clients want their places; those are absent.
  [`healthinfo?${['minioinfo', 'minioconfig', 'syscpu', 'sysdrivehw', 'sysosinfo', 'sysmem', 'sysprocess', 'syserrors', 'sysservices', 'sysconfig'].map((part) => `${part}=true`).join('&')}`]:
    [
      oneDrive,
      /^\*\.sys\.(?:errors\.\*\.errors|config\.\*\.config|kubernetes)$/,
      /^\*\.minio\.info\.(?:tls|is_kubernetes|servers\.\*\.mem_stats|services\.kms\.endpoints)$/,
      /^\*\.sys\.procinfo\.\*\.page_faults\.majorFaults$/,
    ],
};

describe('no constant stands for a value in', () => {
  it.each(Object.entries(emptyOnPurpose))('%s', async (target, allowed) => {
    const { status, value } = await call('GET', target);
    expect(status).toBe(200);
    expect(emptyPlaces(value).filter((place) => !allowed.some((pattern) => pattern.test(place)))).toEqual([]);
  });
});

/** Metrics of what does not happen here. The tests of their files count them. */
const zeroOnPurpose: Readonly<Record<string, readonly string[]>> = {
  cluster: [
    'coffer_background_task_failing',
    'coffer_log_lines_dropped_total',
    'coffer_notify_target_dropped_events',
    'coffer_notify_target_held_dropped_events',
    'coffer_notify_target_held_events',
    'coffer_notify_target_held_retried_events',
    'coffer_objects_quarantined',
    'minio_audit_failed_messages',
    'minio_s3_requests_5xx_errors_total',
    'minio_s3_requests_canceled_total',
    'minio_s3_requests_inflight_total',
    'minio_s3_requests_rejected_timestamp_total',
  ],
  bucket: [
    'minio_bucket_requests_5xx_errors_total',
    'minio_bucket_requests_canceled_total',
    'minio_bucket_requests_inflight_total',
  ],
  node: [
    'coffer_log_lines_dropped_total',
    'minio_audit_failed_messages',
    'minio_s3_requests_5xx_errors_total',
    'minio_s3_requests_canceled_total',
    'minio_s3_requests_inflight_total',
    'minio_s3_requests_rejected_timestamp_total',
  ],
  resource: ['coffer_log_lines_dropped_total'],
};

/** Waits for traffic to be counted, and for an entry and an event that were refused: those are zero at most times. */
const waiting =
  /^(?:minio_audit_target_queue_length|minio_notify_target_(?:queue_length|failed_events)|coffer_notify_target_oldest_event_seconds)$/;

async function zeros(group: string): Promise<readonly string[]> {
  const text = await (await fetch(`${figured.server.s3}/minio/v2/metrics/${group}`)).text();
  const largest = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name = '', value] = /^(\w+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name !== '') largest.set(name, Math.max(largest.get(name) ?? 0, Number(value)));
  }
  expect(largest.size).toBeGreaterThan(10);
  return [...largest.keys()].filter((name) => largest.get(name) === 0 && !waiting.test(name)).toSorted();
}

describe('every figure of', { timeout: 300_000 }, () => {
  it.each(Object.entries(zeroOnPurpose))('the metrics of the group %s is more than 0', async (group, allowed) => {
    await expect.poll(() => zeros(group), { timeout: 240_000 }).toEqual(allowed);
  });

  it('the state of the server is true', async () => {
    const info = await valueOf('info');
    expect(info).toMatchObject({
      ...counts,
      domain: domains,
      region: 'us-east-1',
      sqsARN: ['arn:minio:sqs:us-east-1:HOOK:webhook'],
      services: { kms: { status: 'online' }, ldap: { status: 'disabled' } },
      backend: { onlineDisks: 1 },
      pools: { 0: { 0: { objectsCount: 3, versionsCount: 5, deleteMarkersCount: 1, usage: counts.usage.size } } },
    });
  });

  it('the audit targets is that of their last entry', async () => {
    await expect.poll(auditStates, { timeout: 60_000 }).toEqual({
      file: { status: 'online' },
      'webhook:SIEM': { status: 'online' },
    });
    figured.take(false);
    await expect
      .poll(async () => (await auditStates())['webhook:SIEM'], { timeout: 60_000 })
      .toEqual({ status: 'offline' });
    figured.take(true);
    await expect
      .poll(async () => (await auditStates())['webhook:SIEM'], { timeout: 60_000 })
      .toEqual({ status: 'online' });
  });

  it('an account is true, by bucket', async () => {
    const { Buckets } = await valueOf('accountinfo');
    expect(Buckets).toMatchObject(Object.entries(storedBuckets).map(([name, stored]) => ({ name, ...stored })));
  });

  it('the usage is true', async () => {
    expect(await valueOf('datausageinfo')).toMatchObject({
      objectsCount: 3,
      versionsCount: 5,
      deleteMarkersCount: 1,
      objectsTotalSize: counts.usage.size,
      bucketsCount: 2,
    });
  });

  it('the store is that of the file system', async () => {
    const { value } = await call('GET', '/minio/admin/v3/storageinfo');
    const { Disks } = value as { Disks: Record<'totalspace' | 'usedspace' | 'availspace' | 'utilization', number>[] };
    const { totalspace = 0, usedspace = 0, availspace = 0, utilization } = Disks[0] ?? {};
    expect(totalspace).toBe(usedspace + availspace);
    expect(utilization).toBeCloseTo((usedspace / totalspace) * 100);
  });

  it('the own client is the same', async () => {
    const { server } = figured;
    const host = server.s3.replace('http://', `http://${server.accessKey}:${server.secretKey}@`);
    const { code, stdout } = await runCoffer(['--json', 'admin', 'info', 's'], { env: { COFFER_HOST_s: host } });
    expect(code).toBe(0);
    const printed = JSON.parse(stdout.toString()) as { info?: object };
    expect(printed.info ?? printed).toMatchObject(counts);
  });
});
