import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BlobStore } from '../store/blob-store.ts';

export type Reserve = { readonly bytes: number } | { readonly percent: number };

/** How old a measurement of free space may be, in milliseconds: asking for each of 20,000 writes a second would cost more than it tells. */
const MEASURED_FOR = 1000;

/** A check before every write, deletes excepted: throws `XMinioStorageFull` while less than the reserve is free. */
export function spaceCheck(blobs: BlobStore, reserve: Reserve | undefined, clock: () => number): () => Promise<void> {
  if (reserve === undefined) return () => Promise.resolve();
  let measured = -Infinity;
  let problem: string | undefined;
  return async () => {
    const now = clock();
    if (now - measured >= MEASURED_FOR || now < measured) {
      const space = await blobs.space();
      measured = now;
      problem = space && shortage(space, reserve);
    }
    if (problem !== undefined) throw new S3Error('XMinioStorageFull', problem);
  };
}

function shortage(space: { readonly free: number; readonly total: number }, reserve: Reserve): string | undefined {
  const kept = 'bytes' in reserve ? reserve.bytes : (space.total * reserve.percent) / 100;
  if (space.free >= kept) return undefined;
  return `Only ${mebibytes(space.free)} are free, and ${mebibytes(kept)} are reserved (SVC_STORAGE_RESERVE). Delete objects to go on.`;
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1_048_576)} MiB`;
}
