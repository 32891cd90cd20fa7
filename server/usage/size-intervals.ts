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
