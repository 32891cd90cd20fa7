import type { Secret } from './api/object.ts';
import type { CertificateNeed, IssuedCertificate, RestartInput, Workload } from './workload.ts';

/**
 * What runs workloads: processes of this machine, or pods. The reconciler decides, a runtime obeys and reports; it makes no
 * decision of its own but when to start a crashed program again.
 */
export interface Runtime {
  /** Makes the certificates that are missing or about to expire; keys stay, so that identities do. By name of the need. */
  ensureCertificates(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>>;
  observe(): Promise<readonly RunningWorkload[]>;
  /**
   * Makes what runs equal to the workload: starts it, rewrites files that reload, and restarts it where its recorded inputs
   * differ. Resolves once that is under way, not when it is ready. `secrets` has every Secret that its files name.
   */
  apply(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void>;
  /** Stops the workload. Its data stay. */
  remove(name: string): Promise<void>;
  /** Calls when a workload's phase changes. */
  onChange(listener: () => void): void;
}

export interface RunningWorkload {
  readonly name: string;
  /** Of the workload as it was applied last; what is rendered now is compared with them. */
  readonly inputs: readonly RestartInput[];
  readonly state: WorkloadState;
  /** What the runtime cannot give; beside it an earlier version may run on. */
  readonly refused?: { readonly reason: RefusalReason; readonly message: string };
  /** HOST:PORT by port name. */
  readonly addresses: Readonly<Record<string, string>>;
}

export type WorkloadState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready' }
  /** Runs, and stopped answering as ready. */
  | { readonly kind: 'not-ready'; readonly message: string }
  | { readonly kind: 'crash-loop'; readonly restarts: number; readonly message: string }
  | { readonly kind: 'stopped' };

export type RefusalReason = 'PortInUse' | 'ReplicasUnsupported' | 'StartFailed';
