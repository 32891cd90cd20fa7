import { firstByteBounds } from './first-byte-bounds.ts';
import type { RequestSums } from './request-counters.ts';

/** The cumulative counters of a server at one moment. */
export interface CounterReading {
  readonly requests: RequestSums;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/**
 * The traffic of one step, as stored numbers: requests, those refused (4xx), failed (5xx) and canceled, bytes received and sent,
 * milliseconds of CPU, MiB of memory, and the requests by the bounds of the time to the first byte. The order must never change.
 */
export type MetricsPoint = readonly number[];

/** Positions in a point. */
export const at = {
  requests: 0,
  clientErrors: 1,
  serverErrors: 2,
  canceled: 3,
  received: 4,
  sent: 5,
  cpuMs: 6,
  memoryMib: 7,
  firstBytes: 8,
} as const;

const buckets = firstByteBounds.length + 1;
export const pointLength = at.firstBytes + buckets;

/** Returns what happened between two readings. A counter that went back began anew, with a new process. */
export function pointBetween(before: CounterReading, now: CounterReading): MetricsPoint {
  const [first, last] = [totals(before), totals(now)];
  return last.map((value, index) => {
    if (index === at.memoryMib) return value;
    const grown = value - (first[index] ?? 0);
    return Math.max(0, Math.round(grown));
  });
}

function totals({ requests, cpuSeconds, residentBytes }: CounterReading): number[] {
  const { operations, received, sent } = requests;
  const sum = (valueOf: (one: (typeof operations)[number]) => number) =>
    operations.reduce((all, one) => all + valueOf(one), 0);
  return [
    sum(({ total }) => total),
    sum(({ clientErrors }) => clientErrors),
    sum(({ serverErrors }) => serverErrors),
    sum(({ canceled }) => canceled),
    received,
    sent,
    cpuSeconds * 1_000,
    Math.round(residentBytes / 1_048_576),
    ...Array.from({ length: buckets }, (_, bound) => sum(({ firstBytes }) => firstBytes[bound] ?? 0)),
  ];
}

/** Adds points of one step of several servers, or of several steps of one server. Memory adds up only over servers. */
export function addPoint(sum: number[], point: MetricsPoint): void {
  for (let index = 0; index < pointLength; index++) sum[index] = (sum[index] ?? 0) + (point[index] ?? 0);
}

/**
 * Estimates a quantile of the time to the first byte in milliseconds, evenly spread within the bounds; undefined without requests. Requests
 * above the last bound count as that bound.
 */
export function firstByteMs(point: MetricsPoint, quantile: number): number | undefined {
  const counts = point.slice(at.firstBytes, pointLength);
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  const wanted = quantile * all;
  let passed = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && passed + count >= wanted) {
      const low = firstByteBounds[index - 1] ?? 0;
      const high = firstByteBounds[index] ?? low;
      return 1_000 * (low + ((high - low) * (wanted - passed)) / count);
    }
    passed += count;
  }
  return 1_000 * (firstByteBounds.at(-1) ?? 0);
}
