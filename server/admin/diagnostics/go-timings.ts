/** The distribution of times as clients of the admin API read it, in nanoseconds. */
export function goTimings(milliseconds: readonly number[]) {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) =>
    nanoseconds(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  const average = mean(sorted);
  const tail = Math.max(1, Math.ceil(sorted.length * 0.05));
  const [min = 0, max = 0] = [sorted[0], sorted.at(-1)];
  return {
    avg: nanoseconds(average),
    p50: at(0.5),
    p75: at(0.75),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
    l5p: nanoseconds(mean(sorted.slice(-tail))),
    s5p: nanoseconds(mean(sorted.slice(0, tail))),
    max: nanoseconds(max),
    min: nanoseconds(min),
    sdev: nanoseconds(Math.sqrt(mean(sorted.map((one) => (one - average) ** 2)))),
    range: nanoseconds(max - min),
  };
}

function nanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);
}
