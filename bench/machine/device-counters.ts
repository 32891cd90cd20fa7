import { readFileSync, statSync } from 'node:fs';

/** The counters of a block device since the start of the system. */
export interface DeviceCounters {
  readonly bytesWritten: number;
  /** Flushes that the device has completed. The kernel merges those that wait at the same time. */
  readonly flushes: number;
  /** Milliseconds that these took, one after the other. */
  readonly flushMs: number;
}

const SECTOR = 512;
/** Fields of a line of /proc/diskstats, counted from 0. @see https://www.kernel.org/doc/Documentation/admin-guide/iostats.rst */
const [SECTORS_WRITTEN, FLUSHES, FLUSH_MS] = [9, 18, 19];

/** Parses the line of a device. Undefined for a device without a line, and on a kernel before 5.5, which counts no flushes. */
export function countersOf(major: number, minor: number, diskstats: string): DeviceCounters | undefined {
  for (const line of diskstats.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields[0] !== String(major) || fields[1] !== String(minor)) continue;
    const [sectors, flushes, ms] = [fields[SECTORS_WRITTEN], fields[FLUSHES], fields[FLUSH_MS]];
    if (sectors === undefined || flushes === undefined || ms === undefined) return undefined;
    return { bytesWritten: Number(sectors) * SECTOR, flushes: Number(flushes), flushMs: Number(ms) };
  }
  return undefined;
}

/** Reads the counters of the device that a folder is on; undefined where the folder is on no block device of its own, as with NFS. */
export function deviceCounters(folder: string): DeviceCounters | undefined {
  const { dev } = statSync(folder);
  // The number of a device as glibc composes it. @see makedev(3)
  const major = (dev >> 8) & 0xfff;
  const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
  try {
    return countersOf(major, minor, readFileSync('/proc/diskstats', 'utf8'));
  } catch {
    return undefined;
  }
}
