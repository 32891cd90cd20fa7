import type { SegmentSpace } from '../../objects/segments/segment-space.ts';
import type { VolumeSpace } from '../../store/volume-space.ts';
import { readdir, readFile } from 'node:fs/promises';
import type { Usage } from '../usage/usage.ts';
import type { ReplicationSums } from './replication-text.ts';
import type { BucketSums } from './bucket-counters.ts';
import type { RequestSums } from './request-counters.ts';

/** The resources that this process uses, with all its threads. Values that the system does not report are absent. */
interface ProcessFacts {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly openFiles?: number;
  readonly maxOpenFiles?: number;
  readonly io?: ProcessIo;
}

/** The values of `/proc/self/io` in bytes: `rchar` and `wchar` through the page cache, the others below it. */
interface ProcessIo {
  readonly rchar: number;
  readonly wchar: number;
  readonly readBytes: number;
  readonly writeBytes: number;
}

/** @see https://man7.org/linux/man-pages/man5/proc.5.html */
export async function processFacts(): Promise<ProcessFacts> {
  const [files, limits, io] = await Promise.all([
    orUndefined(readdir('/proc/self/fd')),
    orUndefined(readFile('/proc/self/limits', 'utf8')),
    orUndefined(readFile('/proc/self/io', 'utf8')),
  ]);
  const { user, system } = process.cpuUsage();
  const maxOpenFiles = limits === undefined ? undefined : openFileLimit(limits);
  const parsedIo = io === undefined ? undefined : processIo(io);
  return {
    cpuSeconds: (user + system) / 1_000_000,
    residentBytes: process.memoryUsage.rss(),
    // One descriptor belongs to reading the folder.
    ...(files === undefined ? {} : { openFiles: files.length - 1 }),
    ...(maxOpenFiles === undefined ? {} : { maxOpenFiles }),
    ...(parsedIo === undefined ? {} : { io: parsedIo }),
  };
}

/** Returns the soft limit; undefined where there is none. */
export function openFileLimit(limits: string): number | undefined {
  const found = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return found === undefined ? undefined : Number(found);
}

export function processIo(text: string): ProcessIo | undefined {
  const numbers = ['rchar', 'wchar', 'read_bytes', 'write_bytes'].map((name) =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN),
  );
  const [rchar = 0, wchar = 0, readBytes = 0, writeBytes = 0] = numbers;
  return numbers.some(Number.isNaN) ? undefined : { rchar, wchar, readBytes, writeBytes };
}

async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch {
    return undefined;
  }
}

/** The milliseconds that a scrape waits for slow sources. Prometheus itself waits ten seconds for the whole answer. */
const timeoutMs = 3_000;

/** The sources of the values at the moment of a scrape. */
export interface MetricSources {
  readonly sums: () => RequestSums;
  readonly byBucket: () => readonly BucketSums[];
  /** The counters of audit targets; absent without targets. */
  readonly audit?: () => readonly AuditSums[];
  /** The queues of notification targets. */
  readonly notifications?: () => Promise<readonly QueueSums[]>;
  /** The replication of buckets, for each of their targets. */
  readonly replication?: () => Promise<readonly ReplicationSums[]>;
  readonly ready: () => boolean;
  /** The servers that share the records. `leads` is true where this one does the background work. */
  readonly cluster: () => { readonly leads: boolean; readonly live: readonly unknown[] };
  readonly recordsReachable: () => boolean;
  /** The end of the validity of the certificate in use, milliseconds since 1970. Undefined without TLS. */
  readonly certificateExpires?: () => number | undefined;
  /** The room of the volume of the blobs; undefined where it is unknown. */
  readonly space: () => Promise<VolumeSpace | undefined>;
  readonly buckets: () => Promise<number>;
  readonly integrity?: () => Promise<Integrity>;
  /** Resolves to undefined before the first count of objects. */
  readonly usage?: () => Promise<Usage | undefined>;
  /** Resolves to undefined where no identity provider was ever asked about its users. */
  readonly userStatusChecks?: () => Promise<UserStatusChecks | undefined>;
  /** Rejects while the key service cannot be used. Absent where none is configured. */
  readonly checkKeyService?: () => Promise<void>;
  /** The state of each endpoint of the key service: it answers or not. Absent where none is configured. */
  readonly keyServers?: () => Promise<Readonly<Record<string, 'online' | 'offline'>>>;
  readonly backgroundTasks?: () => Promise<readonly BackgroundTask[]>;
  /** The lines that the logs of all threads have dropped. */
  readonly droppedLogLines: () => number;
  readonly version: string;
  readonly startedAt: number;
  readonly dataFolder: string;
  /** `HOST:PORT`, by which dashboards distinguish servers. */
  readonly server: () => string;
}

/** The counters of audit entries for one target. */
interface AuditSums {
  readonly target: string;
  readonly sent: number;
  readonly dropped: number;
  readonly waiting: number;
}

/** The queue of a notification target. */
interface QueueSums {
  readonly target: string;
  readonly events: number;
  /** Milliseconds since 1970. */
  readonly oldest?: number;
  readonly delivered: number;
  readonly failures: number;
  readonly dropped: number;
  readonly held?: { readonly events: number };
  readonly heldDropped: number;
  readonly heldRetried: number;
}

/** The results of user status checks at identity providers, by all servers together. */
interface UserStatusChecks {
  readonly checked: number;
  readonly cutOff: number;
  readonly unreachable: number;
  /** Milliseconds since 1970. */
  readonly lastRound?: number | undefined;
}

/** A background task. Times are milliseconds since 1970. */
export interface BackgroundTask {
  readonly task: string;
  readonly lastSuccess?: number;
  readonly failure?: { readonly since: number };
}

/** The state of the stored bodies. */
export interface Integrity {
  /** Damaged objects that are not served. */
  readonly quarantined: number;
  /** The pass in progress, or the last one. Times are milliseconds since 1970. */
  readonly scrub?: {
    readonly started: number;
    readonly objects: number;
    readonly bytes: number;
    readonly finished?: number;
  };
  /** Absent where bodies have no segments. */
  readonly segments?: SegmentSpace | undefined;
}

/** The values of a scrape. Values that were not available in time are absent, so that no reader takes a 0 for a fact. */
export interface MetricValues {
  readonly requests: RequestSums;
  /** A function, since only one group shows these many values. */
  readonly byBucket: () => readonly BucketSums[];
  readonly audit: readonly AuditSums[];
  readonly notifications?: readonly QueueSums[] | undefined;
  readonly replication?: readonly ReplicationSums[] | undefined;
  readonly healthy: boolean;
  readonly leads: boolean;
  readonly liveServers: number;
  readonly recordsReachable: boolean;
  readonly certificateExpires?: number | undefined;
  readonly space: VolumeSpace | undefined;
  readonly buckets: number | undefined;
  readonly integrity?: Integrity | undefined;
  readonly usage?: Usage | undefined;
  readonly userStatusChecks?: UserStatusChecks | undefined;
  readonly backgroundTasks?: readonly BackgroundTask[] | undefined;
  /** Undefined where there is no key service. */
  readonly keyServiceOnline: boolean | undefined;
  readonly keyServers?: Readonly<Record<string, 'online' | 'offline'>> | undefined;
  readonly process: ProcessFacts;
  readonly droppedLogLines: number;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly now: number;
  readonly dataFolder: string;
  readonly server: string;
}

export async function readSources(sources: MetricSources, group: MetricGroup, now: number): Promise<MetricValues> {
  const healthy = sources.ready();
  const { checkKeyService } = sources;
  // Before the server is ready, reading the records may wait for the key service.
  const ifHealthy = <T>(read: (() => Promise<T>) | undefined) =>
    healthy && read !== undefined ? inTime(read()) : undefined;
  const { leads, live } = sources.cluster();
  const [
    space,
    buckets,
    integrity,
    usage,
    userStatusChecks,
    backgroundTasks,
    notifications,
    replication,
    keyService,
    keyServers,
    process,
  ] = await Promise.all([
    inTime(sources.space()),
    ifHealthy(sources.buckets),
    ifHealthy(sources.integrity),
    // One row for each bucket: read only for the groups that show it.
    ifHealthy(group === 'cluster' || group === 'bucket' ? sources.usage : undefined),
    ifHealthy(sources.userStatusChecks),
    ifHealthy(sources.backgroundTasks),
    ifHealthy(sources.notifications),
    ifHealthy(group === 'bucket' ? sources.replication : undefined),
    checkKeyService && inTime(checkKeyService().then(() => true)),
    sources.keyServers && inTime(sources.keyServers()),
    processFacts(),
  ]);
  return {
    requests: sources.sums(),
    byBucket: sources.byBucket,
    audit: sources.audit?.() ?? [],
    notifications,
    replication,
    healthy,
    leads,
    liveServers: live.length,
    recordsReachable: sources.recordsReachable(),
    certificateExpires: sources.certificateExpires?.(),
    space,
    buckets,
    integrity,
    usage,
    userStatusChecks,
    backgroundTasks,
    keyServiceOnline: checkKeyService && keyService === true,
    keyServers,
    process,
    droppedLogLines: sources.droppedLogLines(),
    version: sources.version,
    startedAt: sources.startedAt,
    now,
    dataFolder: sources.dataFolder,
    server: sources.server(),
  };
}

/** Resolves to undefined for work that fails or takes too long. */
async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** The groups of MinIO's metrics. */
const metricGroups = ['cluster', 'node', 'bucket', 'resource'] as const;

export type MetricGroup = (typeof metricGroups)[number];
