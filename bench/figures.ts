import type { Measured } from './generator/session.ts';
import type { ServerName } from './servers/server-programs.ts';
import { median, type Spread, spread } from './statistics.ts';

/** One round of one load on one server. */
export interface Sample extends Measured {
  readonly phase: string;
  readonly server: ServerName;
  readonly load: string;
  readonly connections: number;
  /** The processor time of the server in the measured time. */
  readonly cpuSeconds: number;
  /** The server's highest resident memory, with the pages of files. */
  readonly peakBytes: number;
  /** The server's highest memory without the pages of files. */
  readonly anonymousBytes: number;
}

/** All rounds of one load on one server. */
export interface Figures {
  /** Operations per second of each round, in order. */
  readonly rounds: readonly number[];
  readonly operationsPerSecond: Spread;
  readonly mibPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuPer1000: number;
  readonly peakBytes: number;
  readonly anonymousBytes: number;
  /** The share of a core that the generator used. Near 1 the generator is the limit. */
  readonly generatorShare: number;
}

/** A load at a number of connections, with the figures of each server. */
export interface Row {
  readonly phase: string;
  readonly load: string;
  readonly connections: number;
  readonly servers: ReadonlyMap<ServerName, Figures>;
}

export function summarize(samples: readonly Sample[]): Row[] {
  const rows = Map.groupBy(samples, ({ phase, load, connections }) => `${phase}\n${load}\n${connections}`);
  return [...rows.values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const servers = new Map([...Map.groupBy(of, (sample) => sample.server)].map(([name, own]) => [name, figures(own)]));
    return [{ phase: first.phase, load: first.load, connections: first.connections, servers }];
  });
}

function figures(samples: readonly Sample[]): Figures {
  const of = (value: (sample: Sample) => number) => samples.map((sample) => value(sample));
  const seconds = (sample: Sample) => sample.milliseconds / 1000;
  const rounds = of((sample) => sample.operations / seconds(sample));
  return {
    rounds,
    operationsPerSecond: spread(rounds),
    mibPerSecond: median(of((sample) => sample.bytes / 2 ** 20 / seconds(sample))),
    p50: median(of((sample) => sample.p50)),
    p99: median(of((sample) => sample.p99)),
    cpuPer1000: median(of((sample) => (sample.cpuSeconds / sample.operations) * 1000)),
    peakBytes: Math.max(...of((sample) => sample.peakBytes)),
    anonymousBytes: Math.max(...of((sample) => sample.anonymousBytes)),
    generatorShare: median(of((sample) => sample.generatorCpu / seconds(sample))),
  };
}

export interface Ratio {
  readonly operations: Spread;
  readonly cpu: number;
  readonly memory: number;
}

/**
 * Coffer's figures divided by a peer's. Each round of Coffer is compared with the same round of the peer, so that other work on the machine
 * cancels out.
 */
export function ratio(coffer: Figures, peer: Figures): Ratio {
  return {
    operations: spread(coffer.rounds.map((own, round) => own / (peer.rounds[round] ?? Number.NaN))),
    cpu: coffer.cpuPer1000 / peer.cpuPer1000,
    memory: coffer.peakBytes / peer.peakBytes,
  };
}
