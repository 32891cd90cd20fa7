import { join } from 'node:path';
import { coldStarts, type ColdStart } from './cold-start.ts';
import { type Row, type Sample, summarize } from './figures.ts';
import type { Fleet } from './servers/fleet.ts';
import type { GeneratorProcess } from './generator/generator-process.ts';
import { measureRound, bytesOnDisk, type RoundFigures } from './measure-round.ts';
import type { Options, Step } from './options.ts';
import type { CofferProfile } from './profile/coffer-profile.ts';
import type { DiskSpeed } from './machine/disk-speed.ts';
import type { DiskSample } from './report.ts';
import type { Endpoint } from './generator/request-signer.ts';
import { number } from './statistics.ts';
import { replicateTo } from './servers/replica.ts';
import type { RunningServer } from './servers/running-server.ts';
import type { ServerName } from './servers/server-programs.ts';

/** The number of objects that are overwritten: 400 MiB, as in a busy bucket of small objects. */
const overwrittenObjects = 100_000;
const overwrittenBytes = 4_096;
const fillConnections = 64;
/** Seconds of each load before it is measured. V8 has optimized a path after some 50,000 requests. */
const warmUp = { seconds: 4, quick: 1 } as const;
/** A load that runs out of prepared requests is repeated, up to this number of runs. */
const maxWarmUps = 3;

export interface BenchmarkParts {
  readonly options: Options;
  readonly fleet: Fleet;
  readonly generator: GeneratorProcess;
  readonly say: (line: string) => void;
  readonly profile: CofferProfile | undefined;
  /** Measures what the disk gives, if that is asked for. */
  readonly disk: DiskSpeed | undefined;
  /** The server to which Coffer replicates. */
  readonly replica: Endpoint | undefined;
}

export interface Results {
  readonly rows: readonly Row[];
  readonly coldStarts: readonly ColdStart[];
  readonly disk: readonly DiskSample[];
  readonly recordsBytes: readonly (readonly [string, number])[];
}

/** Runs all measurements of one call of the benchmark. */
export class Benchmark {
  readonly #parts: BenchmarkParts;
  readonly #servers: Map<ServerName, RunningServer>;
  readonly #samples: Sample[] = [];
  readonly #coldStarts: ColdStart[] = [];
  readonly #disk: DiskSample[] = [];
  readonly #recordsBytes: [string, number][] = [];

  constructor(parts: BenchmarkParts) {
    this.#parts = parts;
    this.#servers = new Map(parts.fleet.servers);
  }

  async run(): Promise<void> {
    const { options, generator, replica } = this.#parts;
    for (const server of this.#servers.values()) {
      server.resume();
      await generator.do({ kind: 'make-bucket', endpoint: server.endpoint, settings: options });
      if (replica !== undefined) await replicateTo(replica, server.endpoint);
      server.pause();
    }
    if (options.steps.length > 0) await this.#phase('on a new store');
    if (options.overwrites > 0) {
      await this.#overwrite(options.overwrites);
      await this.#phase(`after ${options.overwrites.toLocaleString('en-US')} overwrites in Coffer`);
    }
    if (options.coldStart > 0) await this.#coldStart(options.coldStart);
  }

  results(): Results {
    return {
      rows: summarize(this.#samples),
      coldStarts: this.#coldStarts,
      disk: this.#disk,
      recordsBytes: this.#recordsBytes,
    };
  }

  async stop(): Promise<void> {
    for (const server of this.#servers.values()) await server.stop();
  }

  async #phase(phase: string): Promise<void> {
    const { options } = this.#parts;
    this.#parts.say(`\n${phase}`);
    const warm = new Set<string>();
    for (const step of options.steps) {
      if (!warm.has(step.load)) await this.#warmUp(step);
      warm.add(step.load);
      for (let round = 0; round < options.rounds; round += 1) await this.#round(phase, step, round);
      await this.#profileRound(step);
    }
    this.#weigh(phase);
  }

  async #warmUp(step: Step): Promise<void> {
    const { generator, options } = this.#parts;
    for (const server of this.#servers.values()) {
      let left = options.quick ? warmUp.quick : warmUp.seconds;
      for (let round = 0; round < maxWarmUps && left > 0; round += 1) {
        const { milliseconds } = await measureRound(generator, server, step, { ...options, seconds: left });
        left -= milliseconds / 1000;
      }
    }
  }

  /** Measures all servers in turn. Each round begins with another server. */
  async #round(phase: string, step: Step, round: number): Promise<void> {
    const { generator, options, say } = this.#parts;
    const turn = [...this.#servers];
    const first = round % turn.length;
    for (const [name, server] of [...turn.slice(first), ...turn.slice(0, first)]) {
      const figures = await measureRound(generator, server, step, options);
      this.#samples.push({ ...figures, phase, server: name, ...step });
      const each = (figures.operations / figures.milliseconds) * 1000;
      say(`${step.load.padEnd(14)} at ${String(step.connections).padEnd(4)} ${name.padEnd(10)} ${number(each)} /s`);
      if (name === 'coffer' && step.load.startsWith('put-')) await this.#roundOfDisk(phase, step, figures);
    }
  }

  /** Writes the bytes of a round of Coffer with as many flushes, right after it, without a server. */
  async #roundOfDisk(phase: string, step: Step, { bytes, flushes, operations, milliseconds }: RoundFigures) {
    const { disk, options, say } = this.#parts;
    if (disk === undefined || flushes === undefined) return;
    const perSecond = await disk.measure({ bytes, flushes }, options.seconds);
    const operationsPerSecond = (perSecond / bytes) * operations;
    this.#disk.push({ phase, ...step, operations, bytes, flushes, milliseconds, operationsPerSecond });
    say(
      `${step.load.padEnd(14)} at ${String(step.connections).padEnd(4)} ${'disk'.padEnd(10)} ${number(operationsPerSecond)} /s`,
    );
  }

  /** The profile slows the server down, so it gets a round of its own, without figures. */
  async #profileRound(step: Step): Promise<void> {
    const { generator, options, profile } = this.#parts;
    if (profile === undefined) return;
    for (const name of ['coffer', 'coffer-encrypted'] as const) {
      const server = this.#servers.get(name);
      if (server !== undefined) await measureRound(generator, server, step, options, profile.of(server));
    }
  }

  async #overwrite(writes: number): Promise<void> {
    const server = this.#servers.get('coffer');
    if (server === undefined) return;
    const { generator, say } = this.#parts;
    server.resume();
    const started = performance.now();
    await generator.do({
      kind: 'fill',
      endpoint: server.endpoint,
      prefix: 'overwritten',
      objects: Math.min(overwrittenObjects, writes),
      bytes: overwrittenBytes,
      writes,
      connections: fillConnections,
    });
    server.pause();
    say(`${writes} overwrites in Coffer: ${number((writes / (performance.now() - started)) * 1000)} /s`);
  }

  async #coldStart(objects: number): Promise<void> {
    const server = this.#servers.get('coffer');
    if (server !== undefined) await this.#coldStartOf(server, objects);
  }

  async #coldStartOf(server: RunningServer, objects: number): Promise<void> {
    const { generator, say } = this.#parts;
    say(`\ncold start of ${server.program.name} with ${objects} objects`);
    const { starts, server: restarted } = await coldStarts(generator, server, objects);
    this.#servers.set(server.program.name, restarted);
    this.#coldStarts.push(...starts);
    this.#weigh(`with ${objects.toLocaleString('en-US')} objects`);
  }

  #weigh(when: string): void {
    const server = this.#servers.get('coffer');
    const { records } = server?.program ?? {};
    if (server === undefined || records === undefined) return;
    this.#recordsBytes.push([when, bytesOnDisk(join(server.run.folder, records))]);
  }
}
