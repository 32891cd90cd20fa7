import type { Secret } from '../api/object.ts';
import type { Cache, KubeApi, KubeObject, OwnerReference } from '../kube/kube-api.ts';
import type { RunningWorkload, Runtime, StoreHealth } from '../runtime.ts';
import type { CertificateNeed, IssuedCertificate, ResourceReference, Workload } from '../workload.ts';
import type { CertificateExpiry } from './certificates/certificate-expiry.ts';
import type { CertificateTimes } from './certificates/certificate-times.ts';

/** What the runtime reads: one cache for each type of object that it makes, of all namespaces. */
export interface RuntimeCaches {
  readonly statefulSets: Cache;
  readonly pods: Cache;
  readonly secrets: Cache;
  readonly services: Cache;
  readonly persistentVolumeClaims: Cache;
  readonly podDisruptionBudgets: Cache;
  readonly networkPolicies: Cache;
  readonly ingresses: Cache;
  readonly serviceAccounts: Cache;
  /** `monitoring.coreos.com/v1` ServiceMonitor; undefined while the cluster does not know it. */
  readonly serviceMonitors: () => Cache | undefined;
  /** `cert-manager.io/v1` Certificate; undefined while the cluster does not know it. */
  readonly certificates: () => Cache | undefined;
}

export interface KubernetesRuntimeOptions {
  readonly api: KubeApi;
  readonly caches: RuntimeCaches;
  readonly namespace: string;
  /** The owner reference to a custom resource of the namespace (controller: true); undefined where it is gone. */
  readonly owner: (about: ResourceReference) => OwnerReference | undefined;
  /** Image of workloads that name none. */
  readonly images: { readonly default: string };
  /** Where the operator itself runs, so that network policies admit it; undefined outside the cluster. */
  readonly operatorNamespace: string | undefined;
  /** Keyed digest, as the renderers have it: names of Secrets must not let their content be guessed. */
  readonly fingerprint: (value: string) => string;
  readonly certificateTimes: CertificateTimes;
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: RuntimeLog;
}

/** What the runtime writes to the log of the operator; pino fits. */
export interface RuntimeLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** Runs the workloads of one namespace as StatefulSets whose pods it replaces itself. */
export class KubernetesRuntime implements Runtime {
  readonly #options: KubernetesRuntimeOptions;
  readonly #listeners: ((name: string) => void)[] = [];

  constructor(options: KubernetesRuntimeOptions) {
    this.#options = options;
  }

  /** To be called with every change of a cached object of this namespace; tells the listeners of its workload. */
  noticed(_before: KubeObject | undefined, _after: KubeObject | undefined): void {
    throw new Error(`not built yet: ${this.#options.namespace} ${this.#listeners.length}`);
  }

  /** Authorities and certificates of the namespace, for metrics and status. */
  certificateExpiries(): readonly CertificateExpiry[] {
    throw new Error('not built yet');
  }

  /** Ends its timers; what runs in the cluster runs on. */
  close(): void {
    throw new Error('not built yet');
  }

  ensureCertificates(_needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>> {
    throw new Error('not built yet');
  }

  observe(): Promise<readonly RunningWorkload[]> {
    throw new Error('not built yet');
  }

  observeOne(_name: string): Promise<RunningWorkload | undefined> {
    throw new Error('not built yet');
  }

  apply(_workload: Workload, _secrets: ReadonlyMap<string, Secret>): Promise<void> {
    throw new Error('not built yet');
  }

  refresh(_workload: Workload, _secrets: ReadonlyMap<string, Secret>): Promise<void> {
    throw new Error('not built yet');
  }

  replace(_name: string, _instance: string): Promise<void> {
    throw new Error('not built yet');
  }

  storeHealth(_name: string): Promise<StoreHealth> {
    throw new Error('not built yet');
  }

  remove(_name: string): Promise<void> {
    throw new Error('not built yet');
  }

  onChange(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }
}
