const KIB = 1_024;
const MIB = 1_024 * KIB;

/**
 * The size intervals of MinIO under its names; each ends below its second number. Records keep counts in this order: it must never
 * change, new intervals go to the end.
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

/** MinIO's older interval, which it reports in addition to the four that replaced it. Its name has no underscore after 1024. */
const olderInterval = 'BETWEEN_1024B_AND_1_MB';
const [olderFirst, olderEnd] = [1, 5];

export const intervalCount = sizeIntervals.length;

/** Returns the index of the interval of a size. */
export function intervalOf(size: number): number {
  return sizeIntervals.findIndex(([, below]) => size < below);
}

/** Returns the counts under MinIO's names. Those of the older interval are counted twice, as in MinIO. */
export function namedSizes(counts: readonly number[]): Readonly<Record<string, number>> {
  const named = Object.fromEntries(sizeIntervals.map(([name], index) => [name, counts[index] ?? 0]));
  const older = counts.slice(olderFirst, olderEnd).reduce((sum, count) => sum + count, 0);
  return { ...named, [olderInterval]: older };
}

/**
 * The intervals of MinIO for the count of versions of a key; each ends below its second number. Records keep counts in this order, as
 * above. MinIO also has UNVERSIONED, for keys of buckets without versions.
 */
const versionIntervals: readonly (readonly [name: string, below: number])[] = [
  ['SINGLE_VERSION', 2],
  ['BETWEEN_2_AND_10', 10],
  ['BETWEEN_10_AND_100', 100],
  ['BETWEEN_100_AND_1000', 1_000],
  ['BETWEEN_1000_AND_10000', 10_000],
  ['GREATER_THAN_10000', Infinity],
];

export const versionIntervalCount = versionIntervals.length;

/** Returns the index of the interval of a key with this many versions. */
export function versionIntervalOf(versions: number): number {
  return versionIntervals.findIndex(([, below]) => versions < below);
}

/** Returns the counts of keys under MinIO's names. */
export function namedVersionCounts({ objects, versions, keys }: BucketUsage): Readonly<Record<string, number>> {
  const named = Object.fromEntries(versionIntervals.map(([name], index) => [name, keys[index] ?? 0]));
  return { UNVERSIONED: versions === 0 ? objects : 0, ...named };
}

/** The sums of one bucket or the whole store, by its records. */
export interface StoredSums {
  /** Current objects. */
  readonly objects: number;
  /** Bytes of all versions as clients uploaded them: encryption and the engine take more. */
  readonly bytes: number;
  /** As MinIO counts them: all versions in buckets that have some, current ones and delete markers among them. 0 for other buckets. */
  readonly versions: number;
  /** Delete markers, current and noncurrent. */
  readonly deleteMarkers: number;
  /** Multipart uploads in progress, and the bytes of their parts. */
  readonly uploads: number;
  readonly uploadBytes: number;
  /** Counts of current objects by size interval. */
  readonly sizes: readonly number[];
}

/** The sums of one tier. */
export interface TierUsage {
  /** Current objects. */
  readonly objects: number;
  /** Current objects and noncurrent versions. */
  readonly versions: number;
  readonly bytes: number;
}

export interface BucketUsage extends StoredSums {
  readonly bucket: string;
  /** Counts of keys by the interval of their versions, delete markers among them. Empty for a bucket without versions. */
  readonly keys: readonly number[];
}

/** The result of a count, and its time. A count is not a snapshot: each record counts with its state when the counter read it. */
export interface Usage extends StoredSums {
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly ended: number;
  /** The count of requests that this count answers. */
  readonly answers: number;
  /** Records that could not be read: their objects are counted, their bytes are not. */
  readonly unreadable: number;
  /** By the names of the tiers. Absent in the count of an older server. */
  readonly tiers?: Readonly<Record<string, TierUsage>>;
  /** Ordered by name, empty buckets included. */
  readonly buckets: readonly BucketUsage[];
}

export function sumOf(buckets: readonly BucketUsage[]): StoredSums {
  const sizes = Array.from<number>({ length: intervalCount }).fill(0);
  let [objects, bytes, versions, deleteMarkers, uploads, uploadBytes] = [0, 0, 0, 0, 0, 0];
  for (const bucket of buckets) {
    objects += bucket.objects;
    bytes += bucket.bytes;
    versions += bucket.versions;
    deleteMarkers += bucket.deleteMarkers;
    uploads += bucket.uploads;
    uploadBytes += bucket.uploadBytes;
    for (const [index, count] of bucket.sizes.entries()) sizes[index] = (sizes[index] ?? 0) + count;
  }
  return { objects, bytes, versions, deleteMarkers, uploads, uploadBytes, sizes };
}
