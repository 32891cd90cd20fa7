import type { ZipEntry } from './zip.ts';
import { adminError } from './admin-error.ts';

/** The measurements of a server, and the views of its state. `server/diagnostics` implements them. Errors are `RequestError`s. */
export interface Diagnostics {
  /** The locks that are held now, the oldest first. */
  locks(): Promise<readonly HeldLock[]>;
  /** Writes and reads objects for a while; removes them. Yields the result of each round. */
  objectSpeed(options: ObjectSpeedOptions, signal: AbortSignal): AsyncIterable<ObjectSpeed>;
  /** Writes a file into the data folder, reads it, and removes it. */
  driveSpeed(options: DriveSpeedOptions, signal: AbortSignal): Promise<DriveSpeed>;
  /** Runs work that must not run during a measurement, on this server or on another one. Throws `RequestError` `XCofferRefused` while one runs. */
  exclusively<T>(task: 'speed test', maxMs: number, work: () => Promise<T>): Promise<T>;
  /** Profiles each thread of this process. */
  profile(kinds: readonly ProfileKind[], durationMs: number): Promise<readonly ZipEntry[]>;
  /** Describes the stored versions of the keys that match the pattern, without their bytes and without keys. */
  inspect(bucket: string, pattern: string): Promise<readonly ZipEntry[]>;
  /** The state of the walks that check and count what is stored. */
  scanner(bucket?: string): Promise<ScannerState>;
  /** Counters of the machine; each is absent where the system does not have it. */
  host(): Promise<HostState>;
}

/** Throws `RequestError` `XCofferRefused` on a server without measurements. */
export function diagnosticsOf({ diagnostics }: { readonly diagnostics?: Diagnostics }): Diagnostics {
  if (diagnostics !== undefined) return diagnostics;
  throw adminError('XCofferRefused', 'This server measures nothing.');
}

/** A lock of this deployment. Times are milliseconds since 1970. */
export interface HeldLock {
  readonly resource: string;
  readonly type: 'Write' | 'Read';
  /** The work that took the lock. */
  readonly source: string;
  /** `HOST:PORT` of the server that has it. */
  readonly owner: string;
  readonly id: string;
  readonly since: number;
  /** True for a lock whose owner is gone. */
  readonly stale: boolean;
}

export interface ObjectSpeedOptions {
  /** Bytes of each object. */
  readonly size: number;
  readonly concurrency: number;
  /** The sums of the writes, and of the reads. */
  readonly durationMs: number;
  /** Repeats with more at a time, as long as that is faster. */
  readonly autotune: boolean;
  /** An existing bucket; a temporary one by default. */
  readonly bucket: string | undefined;
  /** Leaves the objects there. */
  readonly keep: boolean;
}

export interface ObjectSpeed {
  readonly size: number;
  readonly concurrency: number;
  readonly writes: SpeedSums;
  readonly reads: SpeedSums;
}

export interface SpeedSums {
  readonly bytesPerSecond: number;
  readonly objectsPerSecond: number;
  /** Milliseconds of the whole exchanges, and until the first byte. */
  readonly times: readonly number[];
  readonly firstByteTimes: readonly number[];
  readonly error?: string;
}

export interface DriveSpeedOptions {
  /** Bytes. */
  readonly blockSize: number;
  readonly fileSize: number;
}

export interface DriveSpeed {
  readonly path: string;
  readonly readBytesPerSecond: number;
  readonly writeBytesPerSecond: number;
}

/** The kinds of profiles that clients may ask for. */
export const profileKinds = [
  'cpu',
  'cpuio',
  'mem',
  'block',
  'mutex',
  'trace',
  'threads',
  'goroutines',
  'runtime',
] as const;
export type ProfileKind = (typeof profileKinds)[number];

/** A walk over what is stored. Times are milliseconds since 1970. */
export interface WalkState {
  /** The name of the walk: `usage`, `scrub`, or `lifecycle`. */
  readonly walk: 'usage' | 'scrub' | 'lifecycle';
  /** The bucket of the walk; absent for one of all buckets. */
  readonly bucket?: string;
  readonly started?: number;
  /** Absent while it runs. */
  readonly ended?: number;
  /** The last object of a walk that runs, as `BUCKET/KEY`. */
  readonly at?: string;
}

export interface ScannerState {
  readonly walks: readonly WalkState[];
  /** The work of the last walks, by the name of the step. */
  readonly counts: Readonly<Record<string, number>>;
  /** The work of lifecycle rules in the last walks. */
  readonly lifecycle: Readonly<Record<string, number>>;
}

export interface HostState {
  /** The counters of `/proc/diskstats` for the drive of the data folder, in their order. */
  readonly drive?: readonly number[];
  readonly network?: { readonly name: string; readonly counters: readonly number[] };
  /** Bytes. */
  readonly memory: Readonly<Record<'total' | 'free' | 'available', number>>;
  readonly cpus: number;
  readonly load: readonly number[];
  /** Seconds since the start of the machine. */
  readonly cpuTimes: Readonly<Record<'user' | 'nice' | 'system' | 'idle' | 'irq', number>>;
}
