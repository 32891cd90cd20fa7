/** Growing delays: the first is about `firstMs`, each doubles, none is above `mostMs`. Up to half of each is left to chance. */
export interface BackoffTiming {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Milliseconds to wait after so many failures in a row, so that many clients of one server do not come back together. */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffTiming, random: () => number): number {
  if (failures === 0) return 0;
  const whole = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole * (0.5 + random() / 2));
}
