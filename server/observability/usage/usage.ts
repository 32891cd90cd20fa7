const KIB = 1_024;
const MIB = 1_024 * KIB;

/**
 * The intervals by which MinIO tells sizes of objects apart, under its names; each ends below its second number. Records keep counts
 * in this order: it is never changed, only added to at its end.
 */
const sizeIntervals: readonly (readonly [name: string, below: number])[] = [
  ['LESS_THAN_1024_B', KIB],
  ['BETWEEN_1024_B_AND_64_KB', 64 * KIB],
  ['BETWEEN_64_KB_AND_256_KB', 256 * KIB],
  ['BETWEEN_256_KB_AND_512_KB', 512 * KIB],
  ['BETWEEN_512_KB_AND_1_MB', MIB],
  ['BETWEEN_1_MB_AND_10_MB', 10 * MIB],
  ['BETWEEN_10_MB_AND_64_MB', 64 * MIB],
  ['BETWEEN_64_MB_AND_128_MB', 128 * MIB],
  ['BETWEEN_128_MB_AND_512_MB', 512 * MIB],
  ['GREATER_THAN_512_MB', Infinity],
];

/** MinIO's older interval, which it tells beside the four that it was divided into: without an underscore after 1024. */
const olderInterval = 'BETWEEN_1024B_AND_1_MB';
const [olderFirst, olderEnd] = [1, 5];

export const intervalCount = sizeIntervals.length;

/** The place of a size among the intervals. */
export function intervalOf(size: number): number {
  return sizeIntervals.findIndex(([, below]) => size < below);
}

/** The counts under MinIO's names: those of the older interval are counted twice, as MinIO does. */
export function namedSizes(counts: readonly number[]): Readonly<Record<string, number>> {
  const named = Object.fromEntries(sizeIntervals.map(([name], index) => [name, counts[index] ?? 0]));
  const older = counts.slice(olderFirst, olderEnd).reduce((sum, count) => sum + count, 0);
  return { ...named, [olderInterval]: older };
}

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
