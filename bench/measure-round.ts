import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { GeneratorProcess } from './generator/generator-process.ts';
import type { Measured } from './generator/session.ts';
import type { Options, Step } from './options.ts';
import { deviceCounters } from './machine/device-counters.ts';
import type { RunningServer } from './servers/running-server.ts';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export type RoundFigures = Measured & {
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly anonymousBytes: number;
  /** Flushes of the disk meanwhile, of all programs; absent where the system does not count them. */
  readonly flushes?: number;
};

const lookAtMemoryEveryMs = 100;

/** Work that runs during the measured part. */
export interface ConcurrentWork {
  begin(step: Step): Promise<void>;
  end(): Promise<void>;
}

const noConcurrentWork: ConcurrentWork = { begin: () => Promise.resolve(), end: () => Promise.resolve() };

/** Measures one round of one load on one server. No other server runs meanwhile. */
export async function measureRound(
  generator: GeneratorProcess,
  server: RunningServer,
  step: Step,
  options: Pick<Options, 'seconds' | 'quick' | 'signPayload'>,
  concurrent: ConcurrentWork = noConcurrentWork,
): Promise<RoundFigures> {
  const { endpoint, tree } = server;
  server.resume();
  try {
    const round = { ...options, endpoint, connections: step.connections, id: randomBytes(4).toString('hex') };
    await generator.do({ kind: 'prepare', load: step.load, round });
    // Earlier writes are flushed now, not in the measured time.
    execFileSync('sync', ['-f', server.run.folder]);
    await concurrent.begin(step);
    tree.resetPeak();
    const cpu = tree.cpuSeconds();
    let anonymousBytes = tree.anonymousBytes();
    const timer = setInterval(() => {
      anonymousBytes = Math.max(anonymousBytes, tree.anonymousBytes());
    }, lookAtMemoryEveryMs);
    const before = deviceCounters(server.run.folder);
    const measured = await generator.run().finally(() => clearInterval(timer));
    const after = deviceCounters(server.run.folder);
    const figures = {
      ...measured,
      cpuSeconds: tree.cpuSeconds() - cpu,
      peakBytes: tree.peakBytes(),
      anonymousBytes,
      ...(before && after && { flushes: after.flushes - before.flushes }),
    };
    await concurrent.end();
    await generator.do({ kind: 'finish' });
    return figures;
  } catch (error) {
    throw new Error(
      `${server.program.name}, ${step.load} at ${step.connections}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  } finally {
    server.pause();
  }
}

/** Returns the bytes on disk of the files in a folder. A sparse file takes less than its length. */
export function bytesOnDisk(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .filter((stat) => stat.isFile())
    .reduce((sum, stat) => sum + stat.blocks * 512, 0);
}
