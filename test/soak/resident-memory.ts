import { readFileSync } from 'node:fs';

export interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** Notes a process' resident memory every few seconds until it is told to stop. */
export function watchMemory(pid: number, everyMs = 5_000): { readonly samples: readonly Sample[]; stop(): void } {
  const samples: Sample[] = [];
  const timer = setInterval(() => {
    const bytes = residentBytes(pid);
    // Without it the samples end, and whoever counts on the process notices by itself.
    if (bytes !== undefined) samples.push({ atMs: performance.now(), bytes });
  }, everyMs);
  return { samples, stop: () => clearInterval(timer) };
}

function residentBytes(pid: number): number | undefined {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found === null ? undefined : Number(found[1]) * 1024;
  } catch {
    return undefined;
  }
}

export interface Growth {
  readonly samples: number;
  readonly meanBytes: number;
  /** From the first sample to the last, by the straight line that fits them best. */
  readonly grownBytes: number;
}

/** The growth after the first milliseconds, in which caches and pools fill. */
export function growthAfter(warmUpMs: number, all: readonly Sample[]): Growth {
  const from = (all[0]?.atMs ?? 0) + warmUpMs;
  const samples = all.filter(({ atMs }) => atMs >= from);
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / Math.max(1, samples.length);
  const meanAt = mean(({ atMs }) => atMs);
  const meanBytes = mean(({ bytes }) => bytes);
  const variance = mean(({ atMs }) => (atMs - meanAt) ** 2);
  const slope = variance === 0 ? 0 : mean(({ atMs, bytes }) => (atMs - meanAt) * (bytes - meanBytes)) / variance;
  const span = (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0);
  return { samples: samples.length, meanBytes, grownBytes: slope * span };
}
