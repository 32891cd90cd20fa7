import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import type { ProfileKind } from '../administration/diagnostics.ts';

/** A file of a profile, as text. */
export interface ProfileFile {
  readonly name: string;
  readonly text: string;
}

/** Bytes between two samples of allocations: the profile costs little, and has each function that allocates much. */
const heapSamplingBytes = 64 * 1024;
/** Microseconds between two samples of the stack. */
const cpuSamplingMicros = 1_000;

/**
 * Profiles the thread that calls it. The files name functions, their lines, and sums; they have no values of the program, as a snapshot of the
 * heap would.
 */
export async function profileThread(
  thread: string,
  kinds: readonly ProfileKind[],
  durationMs: number,
): Promise<readonly ProfileFile[]> {
  const wants = (...some: readonly ProfileKind[]) => some.some((kind) => kinds.includes(kind));
  const files: ProfileFile[] = [];
  const add = (suffix: string, value: unknown) =>
    files.push({ name: `${thread}${suffix}`, text: JSON.stringify(value) });
  const session = new Session();
  session.connect();
  const delay = wants('block') ? monitorEventLoopDelay({ resolution: 10 }) : undefined;
  try {
    if (wants('cpu', 'cpuio')) {
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: cpuSamplingMicros });
      await session.post('Profiler.start');
    }
    if (wants('mem')) await session.post('HeapProfiler.startSampling', { samplingInterval: heapSamplingBytes });
    delay?.enable();
    const before = performance.eventLoopUtilization();
    await sleep(durationMs, undefined, { ref: false });
    if (wants('cpu', 'cpuio')) add('.cpuprofile', (await session.post('Profiler.stop')).profile);
    if (wants('mem')) add('.heapprofile', (await session.post('HeapProfiler.stopSampling')).profile);
    if (delay !== undefined) {
      delay.disable();
      const { min, max, mean, stddev } = delay;
      const percentiles = Object.fromEntries([50, 90, 99, 99.9].map((percent) => [percent, delay.percentile(percent)]));
      add('-event-loop-delay.json', { unit: 'ns', min, max, mean, stddev, percentiles });
    }
    if (wants('threads', 'goroutines')) {
      const resources: Record<string, number> = {};
      for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
      const { utilization } = performance.eventLoopUtilization(performance.eventLoopUtilization(), before);
      add('-resources.json', { eventLoopUtilization: utilization, activeResources: resources });
    }
    if (wants('runtime')) {
      add('-runtime.json', { heap: v8.getHeapStatistics(), spaces: v8.getHeapSpaceStatistics() });
    }
  } finally {
    session.disconnect();
  }
  return files;
}
