import { setTimeout as sleep } from 'node:timers/promises';
import { type ObjectSpeed, type SpeedSums, diagnosticsOf } from '../../administration/diagnostics.ts';
import type { SiteSpeed } from '../../administration/sites.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { type AdminAnswer, type AdminCall, adminPath, json, nothing, type Route } from '../call.ts';
import { goDuration } from '../streams/trace.ts';
import { goTimings } from './go-timings.ts';
import { adminError } from '../../administration/admin-error.ts';

const action = 'admin:OBDInfo';

/** `mc support perf`: measurements of the server by itself. */
export const speedTestRoutes: readonly Route[] = [
  { method: 'POST', path: adminPath('speedtest(?:/object)?'), action, serve: objectSpeed },
  { method: 'POST', path: adminPath('speedtest/drive'), action, serve: (call) => Promise.resolve(driveSpeed(call)) },
  { method: 'POST', path: adminPath('speedtest/net'), action, serve: netSpeed },
  { method: 'POST', path: adminPath('speedtest/client/devnull'), action, serve: devNull },
  {
    method: 'POST',
    path: adminPath('speedtest/client/devnull/extratime'),
    action,
    serve: () => Promise.resolve(json({})),
  },
  {
    method: 'POST',
    path: adminPath('speedtest/site'),
    action,
    serve: siteSpeed,
  },
];

async function objectSpeed(call: AdminCall): Promise<AdminAnswer> {
  const { query, services } = call;
  const bucket = query.get('bucket')?.trim() || undefined;
  // The test writes, reads and removes there as the caller would.
  if (bucket !== undefined) {
    for (const right of ['s3:PutObject', 's3:GetObject', 's3:DeleteObject', 's3:DeleteObjectVersion'])
      await call.require(right, `${bucket}/speedtest/`);
  }
  const options = {
    size: numberOf(query, 'size', 64 * 1024 ** 2),
    concurrency: numberOf(query, 'concurrent', 32),
    durationMs: durationOf(query, 10_000),
    autotune: query.get('autotune') === 'true',
    keep: query.get('noclear') === 'true',
    bucket,
  };
  const diagnostics = diagnosticsOf(services);
  const { endpoint, version } = services.server;
  return {
    kind: 'lines',
    async *lines(signal) {
      for await (const speed of diagnostics.objectSpeed(options, signal))
        yield [objectResult(speed, endpoint, version)];
    },
  };
}

/** Clients pass over results without a version. */
function objectResult(speed: ObjectSpeed, endpoint: string, version: string) {
  const { size, concurrency, writes, reads } = speed;
  return {
    version,
    servers: 1,
    disks: 1,
    size,
    concurrent: concurrency,
    PUTStats: statsOf(writes, endpoint),
    GETStats: statsOf(reads, endpoint),
  };
}

function statsOf({ bytesPerSecond, objectsPerSecond, times, firstByteTimes, error = '' }: SpeedSums, endpoint: string) {
  const rates = { throughputPerSec: bytesPerSecond, objectsPerSec: objectsPerSecond };
  return {
    ...rates,
    responseTime: goTimings(times),
    ttfb: goTimings(firstByteTimes),
    servers: [{ endpoint, ...rates, err: error }],
  };
}

function driveSpeed({ query, services }: AdminCall): AdminAnswer {
  const options = {
    blockSize: numberOf(query, 'blocksize', 4 * 1024 ** 2),
    fileSize: numberOf(query, 'filesize', 1024 ** 3),
  };
  const diagnostics = diagnosticsOf(services);
  const { endpoint, version } = services.server;
  return {
    kind: 'lines',
    async *lines(signal) {
      try {
        const { path, readBytesPerSecond, writeBytesPerSecond } = await diagnostics.driveSpeed(options, signal);
        const drivePerf = [{ path, readThroughput: readBytesPerSecond, writeThroughput: writeBytesPerSecond }];
        yield [{ version, endpoint, drivePerf }];
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        yield [
          {
            version,
            endpoint,
            drivePerf: [{ path: services.server.dataFolder, readThroughput: 0, writeThroughput: 0, error: reason }],
          },
        ];
      }
    },
  };
}

/** Milliseconds that sites send to each other at most. */
export const maxSiteMs = 30_000;

async function siteSpeed({ query, services }: AdminCall): Promise<AdminAnswer> {
  const durationMs = Math.min(durationOf(query, 10_000), maxSiteMs);
  const { sites } = services;
  if (sites === undefined || (await sites.shown()) === undefined) {
    throw new S3Error(
      'NotImplemented',
      'Coffer replicates to no other site here: there is no connection to measure. "mc admin replicate add" makes sites.',
    );
  }
  return {
    kind: 'lines',
    async *lines(signal) {
      const work = () => sites.speed(durationMs, signal);
      const nodeResults = await connectionResults(services, { work, show: siteResult, signal });
      if (nodeResults !== undefined) yield [{ nodeResults }];
    },
  };
}

interface Connections {
  readonly work: () => Promise<readonly SiteSpeed[] | undefined>;
  readonly show: (speed: SiteSpeed) => object;
  readonly signal: AbortSignal;
}

/**
 * Returns the results, or the reason why there are none, such as another measurement: the answer has begun, and a connection that breaks off gives the
 * client no reason. Undefined where the client is gone.
 */
async function connectionResults(
  services: AdminCall['services'],
  { work, show, signal }: Connections,
): Promise<readonly object[] | undefined> {
  try {
    const speeds = await diagnosticsOf(services).exclusively('speed test', 3 * maxSiteMs, work);
    return (speeds ?? []).map(show);
  } catch (error) {
    if (signal.aborted) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    return [{ endpoint: services.server.endpoint, tx: 0, rx: 0, error: reason }];
  }
}

function siteResult({ endpoint, sentPerSecond, receivedPerSecond, durationMs, connections, error }: SiteSpeed) {
  const nanoseconds = durationMs * 1e6;
  return {
    endpoint,
    tx: Math.round(sentPerSecond),
    txTotalDuration: nanoseconds,
    rx: Math.round(receivedPerSecond),
    rxTotalDuration: nanoseconds,
    totalConn: connections,
    ...(error !== undefined && { error }),
  };
}

/** Measures the connections between the servers of this deployment, or, where there is one server alone, those between sites. */
async function netSpeed({ query, services }: AdminCall): Promise<AdminAnswer> {
  const durationMs = Math.min(durationOf(query, 10_000), maxSiteMs);
  const { sites, others, serverSpeeds } = services;
  const measure = await connectionsOf();
  if (measure === undefined) {
    throw new S3Error(
      'NotImplemented',
      'Coffer runs as one server here and replicates to no other site: there is no connection to measure. "mc support perf client" measures the one of a client.',
    );
  }
  return {
    kind: 'lines',
    async *lines(signal) {
      const nodeResults = await connectionResults(services, { work: () => measure(signal), show: netResult, signal });
      if (nodeResults !== undefined) yield [{ nodeResults }];
    },
  };

  async function connectionsOf() {
    if (serverSpeeds !== undefined && (others?.() ?? []).length > 0)
      return (signal: AbortSignal) => serverSpeeds.measure(durationMs, signal);
    if (sites !== undefined && (await sites.shown()) !== undefined)
      return (signal: AbortSignal) => sites.speed(durationMs, signal);
    return undefined;
  }
}

/** Clients show the address. */
function netResult({ endpoint, sentPerSecond, receivedPerSecond, error }: SiteSpeed) {
  return {
    endpoint: new URL(endpoint).host,
    tx: Math.round(sentPerSecond),
    rx: Math.round(receivedPerSecond),
    ...(error !== undefined && { error }),
  };
}

/** Milliseconds, and bytes, after which the body of a client is not read any further. */
const maxDevNullMs = 60_000;
const maxDevNullBytes = 64 * 1024 ** 3;

/** Reads what a client sends, for its own measurement of the network. */
export async function devNull({ request }: AdminCall): Promise<AdminAnswer> {
  const ended = new AbortController();
  let bytes = 0;
  try {
    const over = sleep(maxDevNullMs, undefined, { signal: ended.signal, ref: false }).then(() => {
      throw adminError('XCofferRefused', 'The measurement took too long.');
    });
    const read = request.body.pipe((chunk) => {
      bytes += chunk.length;
      request.body.giveBack?.(chunk);
      if (bytes > maxDevNullBytes) throw adminError('XCofferRefused', 'The measurement sent too much.');
      return undefined;
    });
    await Promise.race([read, over]);
    return nothing;
  } finally {
    ended.abort();
  }
}

export function numberOf(query: URLSearchParams, name: string, byDefault: number): number {
  const text = query.get(name) ?? '';
  if (text === '') return byDefault;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw adminError('XMinioAdminInvalidArgument', `The parameter ${name} is no positive number.`);
}

function durationOf(query: URLSearchParams, byDefault: number): number {
  const text = query.get('duration') ?? '';
  if (text === '') return byDefault;
  const ms = goDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw adminError('XMinioAdminInvalidArgument', 'The parameter duration is no duration such as 10s.');
}
