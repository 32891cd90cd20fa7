import { createHash } from 'node:crypto';
import type {
  DataVolume,
  DataVolumeOwner,
  Instance,
  InstanceState,
  ResizingVolume,
  RunningWorkload,
  Runtime,
  StoreHealth,
} from '../../../operator/contract/runtime.ts';
import type { CertificateNeed, IssuedCertificate, Workload } from '../../../operator/contract/workload.ts';

/** The identity of a certificate, as the key service knows it. */
export function identityOf(certificate: string): string {
  return createHash('sha256').update(certificate).digest('hex');
}

/** For tests: runs nothing, and remembers what it was told. Instances start when `become` says so. */
export class RecordingRuntime implements Runtime {
  readonly running = new Map<string, RunningWorkload>();
  /** `start demo-server`, `update demo-server`, `renew demo-server`, `replace demo-server-1`, `remove demo-server`. */
  readonly told: string[] = [];
  /** As applied or refreshed last. */
  readonly desired = new Map<string, Workload>();
  readonly issued = new Map<string, IssuedCertificate>();
  readonly missing = new Set<string>();
  /** By name of a workload. */
  readonly resizing = new Map<string, readonly ResizingVolume[]>();
  health: StoreHealth = { healthy: true, message: '' };
  keyStoreAway = false;
  readonly asked: string[] = [];
  /** Names of workloads whose `apply` and `refresh` error, and of instances whose `replace` does. */
  readonly failing = new Set<string>();
  /** Names of workloads whose objects the API server refuses. */
  readonly refusing = new Set<string>();
  readonly #listeners: ((name: string) => void)[] = [];

  ensureCertificates(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>> {
    this.asked.push(...needs.map(({ name }) => name));
    const found = needs.flatMap(({ name }) =>
      this.missing.has(name)
        ? []
        : [[name, this.issued.get(name) ?? { identity: identityOf(name), notAfter: new Date('2030-01-01') }] as const],
    );
    return Promise.resolve(new Map(found));
  }

  observe(): Promise<readonly RunningWorkload[]> {
    return Promise.resolve([...this.running.values()]);
  }

  observeOne(name: string): Promise<RunningWorkload | undefined> {
    const running = this.running.get(name);
    const resizing = this.resizing.get(name);
    return Promise.resolve(running && resizing ? { ...running, resizing } : running);
  }

  apply(workload: Workload, _secrets?: unknown, proven: readonly string[] = []): Promise<void> {
    this.#failWhereTold(workload.name);
    for (const volume of proven) this.told.push(`take ${volume}`);
    this.found.delete(workload.name);
    const { name, inputs } = workload;
    const before = this.running.get(name);
    if (this.refusing.has(name)) {
      const none = { name, inputs: [], state: { kind: 'stopped' }, instances: [], wanted: 0, addresses: {} } as const;
      const rejected = { reason: 'ObjectRefused', message: 'the API server refuses it' } as const;
      this.running.set(name, { ...(before ?? none), rejected });
      return Promise.resolve();
    }
    this.told.push(`${before === undefined ? 'start' : 'update'} ${name}`);
    this.#scale(workload, before, inputs);
    return Promise.resolve();
  }

  refresh(workload: Workload): Promise<void> {
    this.#failWhereTold(workload.name);
    const before = this.running.get(workload.name);
    if (before !== undefined) this.#scale(workload, before, before.inputs);
    return Promise.resolve();
  }

  renew({ name }: Workload): Promise<void> {
    this.told.push(`renew ${name}`);
    return Promise.resolve();
  }

  /** Answers a check as the program would. */
  verdict: (workload: Workload) => Promise<string | undefined> = () => Promise.resolve(undefined);

  check(workload: Workload): Promise<string | undefined> {
    this.told.push(`check ${workload.name}`);
    return this.verdict(workload);
  }

  /** Volumes that nobody of this operator made, by workload. */
  readonly found = new Map<string, readonly string[]>();

  /** Names of workloads whose volumes stayed. */
  readonly volumes = new Set<string>();

  hasData(name: string): Promise<boolean> {
    const { rejected, inputs = [] } = this.running.get(name) ?? {};
    const runs = this.running.has(name) && (rejected === undefined || inputs.length > 0);
    return Promise.resolve(this.volumes.has(name) || runs);
  }

  foundVolumes({ name }: Workload): Promise<readonly string[]> {
    return Promise.resolve(this.found.get(name) ?? []);
  }

  /** The data volume of each server. */
  readonly dataVolumes = new Map<string, DataVolume>();

  dataVolume({ name }: DataVolumeOwner): Promise<DataVolume | undefined> {
    return Promise.resolve(this.dataVolumes.get(name));
  }

  recordDeployment({ name }: DataVolumeOwner, deployment: string): Promise<void> {
    const volume = this.dataVolumes.get(name);
    if (volume !== undefined) this.dataVolumes.set(name, { claim: volume.claim, deployment });
    return Promise.resolve();
  }

  async replace(name: string, instance: string): Promise<void> {
    this.#failWhereTold(instance);
    this.told.push(`replace ${instance}`);
    const { inputs = [] } = this.running.get(name) ?? {};
    this.#change(name, instance, (before) => ({ ...before, inputs, state: { kind: 'starting' } }));
  }

  storeHealth(): Promise<StoreHealth> {
    return Promise.resolve(this.health);
  }

  isKeyStoreAway(): boolean {
    return this.keyStoreAway;
  }

  remove(name: string): Promise<void> {
    this.told.push(`remove ${name}`);
    this.running.delete(name);
    return Promise.resolve();
  }

  onChange(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Puts one instance, or all of a workload, into a state, and tells the listeners. */
  become(name: string, state: InstanceState | 'ready', instance?: string): void {
    const next: InstanceState = state === 'ready' ? { kind: 'ready' } : state;
    for (const { name: each } of this.running.get(name)?.instances ?? []) {
      if (instance === undefined || each === instance)
        this.#change(name, each, (before) => ({ ...before, state: next }));
    }
    for (const listener of this.#listeners) listener(name);
  }

  #failWhereTold(name: string): void {
    if (this.failing.has(name)) throw new Error(`${name} cannot be applied`);
  }

  #scale(workload: Workload, before: RunningWorkload | undefined, inputs: RunningWorkload['inputs']): void {
    const { name, replicas, kubernetes } = workload;
    this.desired.set(name, workload);
    const wanted = kubernetes.hibernated ? 0 : replicas;
    const instances = Array.from(
      { length: wanted },
      (_, index): Instance =>
        before?.instances[index] ?? { name: `${name}-${index}`, inputs, state: { kind: 'starting' }, version: '1.0' },
    );
    this.#put({ name, inputs, state: { kind: 'starting' }, instances, wanted, addresses: { s3: `${name}:9000` } });
  }

  #change(name: string, instance: string, change: (before: Instance) => Instance): void {
    const before = this.running.get(name);
    if (before === undefined) return;
    const instances = before.instances.map((each) => (each.name === instance ? change(each) : each));
    this.#put({ ...before, instances });
  }

  #put(workload: RunningWorkload): void {
    const ready = workload.instances.every(({ state }) => state.kind === 'ready');
    this.running.set(workload.name, { ...workload, state: { kind: ready ? 'ready' : 'starting' } });
  }
}
