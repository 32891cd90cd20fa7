import { pause } from '../../../platform/async/backoff.ts';
import { type HostState, type ScannerState, type WalkState, diagnosticsOf } from '../../administration/diagnostics.ts';
import type { BatchJob } from '../../maintenance/batch/batch-jobs.ts';
import { isWaiting } from '../../maintenance/batch/batch-jobs.ts';
import { type AdminAnswer, type AdminCall, adminPath, json, nowOf, type Route } from '../call.ts';
import { jobMetric } from '../../maintenance/batch/job-metric.ts';
import { jobsOf } from '../batch-jobs.ts';
import { goDuration } from '../streams/trace.ts';
import { askedServers, type CallableServer } from '../../administration/other-servers.ts';
import { namesOf, parsedLines } from '../streams/merged-lines.ts';
import { type HostReport, mergedReports } from './merged-reports.ts';
import { adminError } from '../../administration/admin-error.ts';

/** `mc support top drive|net|rpc`, `mc admin scanner status` and `mc batch status`. */
export const metricRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: adminPath('metrics'),
    action: 'admin:ServerInfo',
    serve: (call) => Promise.resolve(metrics(call)),
  },
  { method: 'GET', path: adminPath('scanner/status/([^/]+)'), action: 'admin:ServerInfo', serve: bucketScan },
];

/** The bits of the types of metrics. */
const types = {
  scanner: 1,
  drive: 2,
  os: 4,
  batch: 8,
  siteResync: 16,
  net: 32,
  memory: 64,
  cpu: 128,
  rpc: 256,
} as const;
const allTypes = 2 ** 32 - 1;
/** The types that each server has of its own. */
const hostTypes = types.drive | types.net | types.memory | types.cpu;

/** The shortest time between two reports. */
const minIntervalMs = 500;

/**
 * Reports `n` times, or until the client disconnects. Where jobs or a resync alone are asked for, the last report is the one in which none waits or runs.
 */
function metrics(call: AdminCall): AdminAnswer {
  const { query, services } = call;
  const asked = wantedTypes(query.get('types') ?? '');
  const count = Number(query.get('n') ?? '0') || Infinity;
  const intervalMs = Math.max(minIntervalMs, goDuration(query.get('interval') || '1s') ?? 1_000);
  const ofJobs = asked === types.batch;
  const ofResync = asked === types.siteResync;
  if (ofJobs) jobsOf(call);
  else if (!ofResync) diagnosticsOf(services);
  const servers = askedServers(services, [...namesOf(query, 'node'), ...namesOf(query, 'hosts')]);
  return {
    kind: 'lines',
    async *lines(signal) {
      for (let shown = 1; !signal.aborted; shown += 1) {
        const jobs = asked & types.batch && services.batchJobs !== undefined ? await namedJobs(call) : undefined;
        const others =
          asked & hostTypes ? await Promise.all(servers.others().map((one) => ofServer(one, call, signal))) : [];
        // The counts of what the servers share are the same at each of them.
        const aggregated = await collect(call, servers.self ? asked : asked & ~hostTypes, jobs);
        const isOver = (ofJobs && !(jobs ?? []).some(isWaiting)) || (ofResync && !isRunning(aggregated));
        const final = shown >= count || isOver;
        const own = { hosts: servers.self ? [services.server.endpoint] : [], aggregated, ...split(call, aggregated) };
        yield [{ ...mergedReports(own, others), final }];
        if (final) return;
        await pause(intervalMs, signal);
      }
    },
  };
}

/** Milliseconds for the report of another server. */
const reportMs = 5_000;

async function ofServer(other: CallableServer, { query }: AdminCall, signal: AbortSignal): Promise<HostReport> {
  try {
    const asked = { ...Object.fromEntries(query), n: '1', node: other.endpoint, hosts: '' };
    const over = AbortSignal.any([signal, AbortSignal.timeout(reportMs)]);
    for await (const [report] of parsedLines(
      await other.call({ method: 'GET', call: 'metrics', query: asked }, over),
    )) {
      if (report !== undefined) return report as HostReport;
    }
    throw new Error(`the server ${other.endpoint} sent no report`);
  } catch (error) {
    return { hosts: [], errors: [error instanceof Error ? error.message : String(error)] };
  }
}

function wantedTypes(text: string): number {
  const asked = text === '' ? allTypes : Number(text);
  if (Number.isInteger(asked) && asked > 0 && asked <= allTypes) return asked;
  throw adminError('XMinioAdminInvalidArgument', 'The parameter types is no sum of types of metrics.');
}

async function namedJobs({ services, query }: AdminCall): Promise<readonly BatchJob[]> {
  const id = query.get('by-jobID') ?? '';
  return ((await services.batchJobs?.list()) ?? []).filter((job) => id === '' || job.id === id);
}

async function collect({ services, query }: AdminCall, asked: number, jobs: readonly BatchJob[] | undefined) {
  const { diagnostics } = services;
  const collected = nowOf(services).toISOString();
  const host = diagnostics !== undefined && asked & hostTypes ? await diagnostics.host() : undefined;
  return {
    ...(diagnostics !== undefined &&
      asked & types.scanner && { scanner: scannerMetric(await diagnostics.scanner(), collected) }),
    ...(host && asked & types.drive && { disk: driveMetric(host, collected) }),
    ...(jobs && { batchJobs: { collected, Jobs: Object.fromEntries(jobs.map((job) => [job.id, jobMetric(job)])) } }),
    ...(host?.network && asked & types.net && { net: netMetric(host.network, collected) }),
    ...(host && asked & types.memory && { mem: memoryMetric(host, services.server.endpoint, collected) }),
    ...(host && asked & types.cpu && { cpu: cpuMetric(host, collected) }),
    ...(asked & types.siteResync && (await siteResyncMetric(services, query, collected))),
    // Servers over one database have no connections to each other.
    ...(asked & types.rpc && { rpc: { ...noConnections, collectedAt: collected, lastPongTime: collected } }),
  };
}

function isRunning(aggregated: Readonly<Record<string, unknown>>): boolean {
  const { siteResync } = aggregated as Partial<Awaited<ReturnType<typeof siteResyncMetric>>>;
  return siteResync?.resyncStatus === 'Ongoing';
}

async function siteResyncMetric({ sites }: AdminCall['services'], query: URLSearchParams, collected: string) {
  const deployment = query.get('by-depID') ?? '';
  const resync = deployment === '' ? undefined : await sites?.resync(deployment);
  if (resync === undefined) return { siteResync: undefined };
  const { id, state, started, updated, buckets, replicated, failed, failedBuckets, at } = resync;
  return {
    siteResync: {
      collected,
      resyncStatus: state,
      startTime: time(started),
      lastUpdate: time(updated),
      numBuckets: buckets,
      resyncID: id,
      deplID: deployment,
      completedReplicationSize: replicated.bytes,
      replicationCount: replicated.count,
      failedReplicationSize: failed.bytes,
      failedReplicationCount: failed.count,
      failedBuckets,
      ...(at && { bucket: at.bucket, object: at.key }),
    },
  };
}

type Aggregated = Awaited<ReturnType<typeof collect>>;

const noConnections = {
  connected: 0,
  reconnectCount: 0,
  disconnected: 0,
  outgoingStreams: 0,
  incomingStreams: 0,
  outgoingBytes: 0,
  incomingBytes: 0,
  outgoingMessages: 0,
  incomingMessages: 0,
  outQueue: 0,
  lastPingMS: 0,
};

function split({ query, services: { server } }: AdminCall, aggregated: Aggregated) {
  return {
    ...(query.get('by-host') === 'true' && { by_host: { [server.endpoint]: aggregated } }),
    ...(query.get('by-disk') === 'true' && aggregated.disk && { by_disk: { [server.dataFolder]: aggregated.disk } }),
  };
}

function scannerMetric({ walks, counts, lifecycle }: ScannerState, collected: string) {
  const running = walks.filter(({ ended }) => ended === undefined);
  const ended = walks.flatMap((walk) => (walk.ended === undefined ? [] : [walk.ended])).toSorted((a, b) => a - b);
  const scrub = walks.find(({ walk }) => walk === 'scrub');
  return {
    collected,
    current_cycle: 0,
    current_started: time(scrub?.started ?? 0),
    cycle_complete_times: ended.map(time),
    ongoing_buckets: running.filter(({ bucket }) => bucket !== undefined).length,
    life_time_ops: counts,
    ilm_ops: lifecycle,
    last_minute: {},
    active: running.map(({ walk, bucket, at }) => `${walk}: ${at ?? bucket ?? 'it begins'}`),
  };
}

/** Clients read these names, which have no JSON form of their own in MinIO. */
async function bucketScan({ services, parts: [bucket = ''] }: AdminCall): Promise<AdminAnswer> {
  await services.buckets?.headBucket(bucket);
  const { walks } = await diagnosticsOf(services).scanner(bucket);
  return json(walks.map((walk) => scanOf(walk)));
}

function scanOf({ started = 0, ended }: WalkState) {
  return {
    Pool: 0,
    Set: 0,
    Cycle: 0,
    Ongoing: ended === undefined,
    LastUpdate: time(ended ?? started),
    LastStarted: time(started),
    Completed: ended === undefined ? [] : [time(ended)],
  };
}

/** The names of the counters of `/proc/diskstats`, in their order; the wrong spellings are those of the protocol. */
const driveCounters =
  'read_ios read_merges read_sectors read_ticks write_ios write_merges wrte_sectors write_ticks current_ios total_ticks req_ticks discard_ios discard_merges discard_secotrs discard_ticks flush_ios flush_ticks'.split(
    ' ',
  );

function driveMetric({ drive }: HostState, collected: string) {
  return { collected, n_disks: 1, last_minute: {}, ...(drive && { iostats: named(driveCounters, drive) }) };
}

const netCounters =
  'rx_bytes rx_packets rx_errors rx_dropped rx_fifo rx_frame rx_compressed rx_multicast tx_bytes tx_packets tx_errors tx_dropped tx_fifo tx_collisions tx_carrier tx_compressed'.split(
    ' ',
  );

function netMetric({ name, counters }: NonNullable<HostState['network']>, collected: string) {
  return { collected, interfaceName: name, netstats: { name, ...named(netCounters, counters) } };
}

function memoryMetric({ memory: { total, free, available } }: HostState, addr: string, collected: string) {
  return { collected, memInfo: { addr, total, used: total - available, free, available } };
}

function cpuMetric({ cpus, load, cpuTimes }: HostState, collected: string) {
  const [load1 = 0, load5 = 0, load15 = 0] = load;
  return {
    collected,
    cpuCount: cpus,
    loadStat: { load1, load5, load15 },
    timesStat: { cpu: 'cpu-total', ...cpuTimes, iowait: 0, softirq: 0, steal: 0, guest: 0, guestNice: 0 },
  };
}

function named(names: readonly string[], values: readonly number[]): Record<string, number> {
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? 0]));
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
