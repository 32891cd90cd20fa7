import type { StatsFs } from 'node:fs';

/** The room of a volume, in bytes. */
export interface VolumeSpace {
  readonly free: number;
  /** Without what the file system keeps for root, or beyond a quota: what is used is this without `free`. */
  readonly total: number;
  /** Its inodes: a volume may have room for bytes and for no further file. Absent where the file system makes them as it needs them. */
  readonly inodes?: { readonly free: number; readonly total: number } | undefined;
}

/** Returns the room that the server has on a file system. */
export function spaceOf({ bavail, bfree, blocks, bsize, ffree, files }: Omit<StatsFs, 'type' | 'frsize'>): VolumeSpace {
  const kept = Math.max(0, bfree - bavail);
  const inodes = files === 0 ? undefined : { free: ffree, total: files };
  return { free: bavail * bsize, total: (blocks - kept) * bsize, inodes };
}
