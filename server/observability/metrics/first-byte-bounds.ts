/** Upper bounds of the times to the first byte in seconds: MinIO's from 0.05 on, and finer ones below. */
export const firstByteBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Returns the index of the bound for a duration, or one after the last. */
export function bucketOf(seconds: number): number {
  let bucket = 0;
  while (bucket < firstByteBounds.length && seconds > (firstByteBounds[bucket] ?? 0)) bucket++;
  return bucket;
}
