import { existsSync } from 'node:fs';
import type { Secret } from '../../contract/secret.ts';
import type { OperatorEvent } from '../../reconcile/reconciler-options.ts';
import type { RunningWorkload, Runtime, StoreHealth } from '../../contract/runtime.ts';
import type {
  CertificateNeed,
  CertificatePart,
  IssuedCertificate,
  Program,
  Workload,
} from '../../contract/workload.ts';
import { CertificateStore } from './certificate-store.ts';
import { runCheck } from './local-check.ts';
import { LocalWorkload, type LocalWorkloadOptions } from './local-workload.ts';
import type { Symbols } from './addresses.ts';
import type { StateFolder } from './state-folder.ts';

interface LocalRuntimeOptions {
  readonly state: StateFolder;
  /** The source file of each program. */
  readonly programs: Readonly<Record<Program, string>>;
  readonly event: (event: OperatorEvent) => void;
  /** Called with log lines of programs that the user should see. */
  readonly childLine: (workload: string, line: string) => void;
  /** The environment of the programs. */
  readonly version: string;
  readonly verbose: boolean;
  readonly random: () => number;
  readonly now: () => Date;
}

/** Runs workloads as processes of this machine. */
export class LocalRuntime implements Runtime {
  readonly #options: LocalRuntimeOptions;
  readonly #certificates: CertificateStore;
  readonly #needs = new Map<string, CertificateNeed>();
  readonly #workloads = new Map<string, LocalWorkload>();
  /** Secrets that the files of a workload name, by workload. */
  readonly #secrets = new Map<string, ReadonlyMap<string, Secret>>();
  readonly #rejectedIssuers = new Set<string>();
  readonly #listeners: ((name: string) => void)[] = [];

  constructor(options: LocalRuntimeOptions) {
    this.#options = options;
    this.#certificates = new CertificateStore(options.state, () => options.now());
  }

  async ensureCertificates(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>> {
    const issued = new Map<string, IssuedCertificate>();
    for (const need of needs) {
      if (need.issuer !== undefined) {
        this.#refuseIssuer(need);
        continue;
      }
      this.#needs.set(need.name, need);
      issued.set(need.name, await this.#certificates.ensure(need));
    }
    return issued;
  }

  observe(): Promise<readonly RunningWorkload[]> {
    return Promise.resolve([...this.#workloads.values()].map((workload) => workload.observe()));
  }

  observeOne(name: string): Promise<RunningWorkload | undefined> {
    return Promise.resolve(this.#workloads.get(name)?.observe());
  }

  async apply(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void> {
    this.#secrets.set(workload.name, secrets);
    const known = this.#workloads.get(workload.name);
    const one = known ?? new LocalWorkload(this.#workloadOptions(workload));
    this.#workloads.set(workload.name, one);
    await one.apply(workload);
  }

  async refresh(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void> {
    this.#secrets.set(workload.name, secrets);
    await this.#workloads.get(workload.name)?.refresh(workload);
  }

  async renew(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void> {
    const known = this.#workloads.get(workload.name);
    if (known === undefined) return;
    this.#secrets.set(workload.name, secrets);
    await known.renew(workload);
  }

  /** A folder belongs to the path that the resource names, and nothing else claims it. */
  foundVolumes(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  dataVolume(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  recordDeployment(): Promise<void> {
    return Promise.resolve();
  }

  hasData(name: string): Promise<boolean> {
    return Promise.resolve(this.#workloads.has(name) || existsSync(this.#options.state.at('data', name)));
  }

  async check(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<string | undefined> {
    if (workload.check === undefined) return undefined;
    const { state, programs } = this.#options;
    const symbols = { ...this.#symbols(workload.name), secret: secretOf(secrets) };
    return runCheck(workload, workload.check, { state, programs, symbols });
  }

  replace(name: string): Promise<void> {
    this.#workloads.get(name)?.replace();
    return Promise.resolve();
  }

  /** One machine runs one instance of each workload, so the reconciler never asks. */
  storeHealth(): Promise<StoreHealth> {
    return Promise.resolve({ healthy: true, message: '' });
  }

  /** The log of a key service on this machine has the state of its key store. */
  isKeyStoreAway(): boolean {
    return false;
  }

  async remove(name: string): Promise<void> {
    const workload = this.#workloads.get(name);
    this.#workloads.delete(name);
    await workload?.stop();
    // A workload of the same name may have been applied while this one stopped.
    if (!this.#workloads.has(name)) this.#secrets.delete(name);
  }

  onChange(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Returns a certificate with its key and its authority, all as PEM; undefined while it is not made. */
  async certificate(
    name: string,
  ): Promise<{ readonly cert: string; readonly key: string; readonly ca: string } | undefined> {
    const need = this.#needs.get(name);
    if (need === undefined) return undefined;
    const part = (which: CertificatePart) => this.#certificates.part(need, which);
    return { cert: await part('certificate'), key: await part('key'), ca: await part('ca') };
  }

  /** Stops everything, dependents first. Resolves when no process is left. */
  async stop(): Promise<void> {
    const left = new Map(this.#workloads);
    while (left.size > 0) {
      const needed = new Set([...left.values()].flatMap(({ workload }) => workload?.dependsOn ?? []));
      const round = [...left.keys()].filter((name) => !needed.has(name));
      // The renderer makes no dependency cycle. If there is one, everything stops at once.
      const names = round.length === 0 ? [...left.keys()] : round;
      await Promise.all(names.map(async (name) => left.get(name)?.stop()));
      for (const name of names) left.delete(name);
    }
  }

  #workloadOptions({ name, owner }: Workload): LocalWorkloadOptions {
    const { state, event, childLine, programs, version, verbose, random } = this.#options;
    return {
      name,
      state,
      programs,
      version,
      verbose,
      random,
      symbols: this.#symbols(name),
      line: (line) => childLine(name, line),
      event: (type, reason, message) => event({ ref: owner, type, reason, message }),
      changed: () => {
        for (const listener of this.#listeners) listener(name);
      },
    };
  }

  #symbols(workload: string): Symbols {
    return {
      workloads: (name) => this.#workloads.get(name)?.workload,
      mountPath: (of, mount) => this.#mountPath(of, mount),
      secret: (name, key) => secretOf(this.#secrets.get(workload) ?? new Map())(name, key),
      certificate: (name, part) => {
        const need = this.#needs.get(name);
        if (need === undefined) return Promise.reject(new Error(`nobody asked for the certificate ${name}`));
        return this.#certificates.part(need, part);
      },
    };
  }

  #mountPath(workload: string, name: string): string {
    const { state } = this.#options;
    const mount = this.#workloads.get(workload)?.workload?.mounts.find((candidate) => candidate.name === name);
    if (mount === undefined) throw new Error(`the workload ${workload} has no mount ${name}`);
    if (mount.kind === 'files') return state.at('workloads', workload, name);
    return mount.path ?? state.at('data', workload, name);
  }

  /** The certificate stays missing, which is a condition. The event explains it. */
  #refuseIssuer({ name, owner, issuer }: CertificateNeed): void {
    if (this.#rejectedIssuers.has(name)) return;
    this.#rejectedIssuers.add(name);
    const message = `the certificate ${name} names the issuer ${issuer?.name ?? ''}: cert-manager needs Kubernetes`;
    this.#options.event({ ref: owner, type: 'Warning', reason: 'IssuerUnsupported', message });
  }
}

function secretOf(secrets: ReadonlyMap<string, Secret>): Symbols['secret'] {
  return (name, key) => {
    const value = secrets.get(name)?.data[key];
    if (value === undefined) throw new Error(`the Secret ${name} has no key ${key}`);
    return value;
  };
}
