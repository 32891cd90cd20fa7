import type { Secret } from '../api/object.ts';
import type { OperatorEvent } from '../reconcile/events.ts';
import type { RunningWorkload, Runtime } from '../runtime.ts';
import type { CertificateNeed, IssuedCertificate, Program, Workload } from '../workload.ts';
import { CertificateStore } from './certificate-store.ts';
import { LocalWorkload, type LocalWorkloadOptions } from './local-workload.ts';
import type { Symbols } from './resolve.ts';
import type { StateFolder } from './state-folder.ts';

export interface LocalRuntimeOptions {
  readonly state: StateFolder;
  /** The program files that stand for programs. */
  readonly programs: Readonly<Record<Program, string>>;
  readonly event: (event: OperatorEvent) => void;
  /** A line of a child's log that people should see. */
  readonly childLine: (workload: string, line: string) => void;
  readonly verbose: boolean;
  readonly random: () => number;
  readonly now: () => Date;
}

/** Runs workloads as processes of this machine. */
export class LocalRuntime implements Runtime {
  readonly #options: LocalRuntimeOptions;
  readonly #certificates: CertificateStore;
  readonly #needs = new Map<string, CertificateNeed>();
  readonly #applied = new Map<string, Workload>();
  readonly #workloads = new Map<string, LocalWorkload>();
  readonly #listeners: (() => void)[] = [];
  #secrets: ReadonlyMap<string, Secret> = new Map();

  constructor(options: LocalRuntimeOptions) {
    this.#options = options;
    this.#certificates = new CertificateStore(options.state, () => options.now());
  }

  async ensureCertificates(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>> {
    const issued = new Map<string, IssuedCertificate>();
    for (const need of needs) {
      this.#needs.set(need.name, need);
      issued.set(need.name, await this.#certificates.ensure(need));
    }
    return issued;
  }

  observe(): Promise<readonly RunningWorkload[]> {
    return Promise.resolve([...this.#workloads.values()].map((workload) => workload.observe()));
  }

  async apply(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void> {
    this.#secrets = secrets;
    this.#applied.set(workload.name, workload);
    const known = this.#workloads.get(workload.name);
    if (known !== undefined) {
      await known.apply(workload);
      return;
    }
    const made = new LocalWorkload(this.#workloadOptions(workload));
    this.#workloads.set(workload.name, made);
    await made.apply(workload);
  }

  async remove(name: string): Promise<void> {
    const workload = this.#workloads.get(name);
    this.#workloads.delete(name);
    this.#applied.delete(name);
    await workload?.stop();
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Stops everything, dependents first. Resolves when no process is left. */
  async stop(): Promise<void> {
    const left = new Map(this.#workloads);
    while (left.size > 0) {
      const needed = new Set([...left.values()].flatMap((workload) => workload.dependsOn));
      const round = [...left.keys()].filter((name) => !needed.has(name));
      // A ring of dependencies cannot be rendered; should one come, everything stops at once.
      const names = round.length === 0 ? [...left.keys()] : round;
      await Promise.all(names.map(async (name) => left.get(name)?.stop()));
      for (const name of names) left.delete(name);
    }
  }

  #workloadOptions({ name, owner }: Workload): LocalWorkloadOptions {
    const { state, event, childLine, programs, verbose, random } = this.#options;
    return {
      name,
      state,
      programs,
      verbose,
      random,
      symbols: this.#symbols(),
      line: (line) => childLine(name, line),
      event: (type, reason, message) => event({ about: owner, type, reason, message }),
      changed: () => {
        for (const listener of this.#listeners) listener();
      },
    };
  }

  #symbols(): Symbols {
    return {
      workloads: this.#applied,
      mountPath: (workload, mount) => this.#mountPath(workload, mount),
      secret: (name, key) => {
        const value = this.#secrets.get(name)?.data[key];
        if (value === undefined) throw new Error(`the Secret ${name} has no key ${key}`);
        return value;
      },
      certificate: (name, part) => {
        const need = this.#needs.get(name);
        if (need === undefined) return Promise.reject(new Error(`nobody asked for the certificate ${name}`));
        return this.#certificates.part(need, part);
      },
    };
  }

  #mountPath(workload: string, name: string): string {
    const { state } = this.#options;
    const mount = this.#applied.get(workload)?.mounts.find((candidate) => candidate.name === name);
    if (mount === undefined) throw new Error(`the workload ${workload} has no mount ${name}`);
    if (mount.kind === 'files') return state.at('workloads', workload, name);
    return mount.path ?? state.at('data', workload, name);
  }
}
