import { intervalCount } from './size-intervals.ts';

/** What is stored in one place, by its records. */
export interface StoredSums {
  readonly objects: number;
  /** Of what clients uploaded: encryption and the engine take more. */
  readonly bytes: number;
  /** Multipart uploads that were neither completed nor aborted, and what their parts have. */
  readonly uploads: number;
  readonly uploadBytes: number;
  /** Objects by the intervals of `size-intervals.ts`. */
  readonly sizes: readonly number[];
}

export interface BucketUsage extends StoredSums {
  readonly bucket: string;
}

/** What was counted, and when. A count is no snapshot: each record counts as it was when the count came by. */
export interface Usage extends StoredSums {
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly ended: number;
  /** Requests to count that this count answers. */
  readonly answers: number;
  /** Records that could not be read: their objects are counted, their bytes are not. */
  readonly unreadable: number;
  /** In the order of their names, empty ones too. */
  readonly buckets: readonly BucketUsage[];
}

export function sumOf(buckets: readonly BucketUsage[]): StoredSums {
  const sizes = Array.from<number>({ length: intervalCount }).fill(0);
  let [objects, bytes, uploads, uploadBytes] = [0, 0, 0, 0];
  for (const bucket of buckets) {
    objects += bucket.objects;
    bytes += bucket.bytes;
    uploads += bucket.uploads;
    uploadBytes += bucket.uploadBytes;
    for (const [index, count] of bucket.sizes.entries()) sizes[index] = (sizes[index] ?? 0) + count;
  }
  return { objects, bytes, uploads, uploadBytes, sizes };
}
