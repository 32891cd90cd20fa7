import type { Missing } from '../../../protocol/waits-for.ts';
import type { Secret } from '../../api/object.ts';
import type { CertificateNeed, IssuedCertificate, RestartInput, Workload } from './workload.ts';

/**
 * What runs the workloads of one namespace: processes of this machine, or pods. The reconciler decides, a runtime obeys and
 * reports; it makes no decision of its own but when to start a crashed program again.
 */
export interface Runtime {
  /**
   * Makes the certificates that are missing or about to expire; keys stay, so that identities do. By name of the need; a
   * certificate that somebody else has yet to make is missing from the answer. Errors with `ResourceError`.
   */
  ensureCertificates(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>>;
  observe(): Promise<readonly RunningWorkload[]>;
  /** As `observe`, of one; undefined where nothing of it exists. */
  observeOne(name: string): Promise<RunningWorkload | undefined>;
  /**
   * Makes what exists equal to the workload: volumes, addresses, number of instances, files that reload. What needs a restart
   * (`inputs`) is recorded for instances that start from now on; those that run stay until `replace`. A first `apply` starts
   * them all. `secrets` has every Secret that its files name. Resolves once that is under way, not when it is ready.
   */
  apply(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void>;
  /** As `apply`, without what needs a restart: of that, the recorded version stays. */
  refresh(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void>;
  /**
   * Keeps what is paused from expiring: of the files that are there it rewrites certificates and values of Secrets that the program
   * re-reads (`isRenewed`), and touches nothing else. Nothing happens where nothing runs.
   */
  renew(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void>;
  /** Ends one instance; it comes back as the workload was applied last. */
  replace(name: string, instance: string): Promise<void>;
  /** Whether the store behind the instances can spare one of them. Asked before a ready one of several is replaced. */
  storeHealth(name: string): Promise<StoreHealth>;
  /** Stops the workload. Its data stay. Nothing happens where there is none. */
  remove(name: string): Promise<void>;
  /** Calls with the name of a workload whose instances changed. */
  onChange(listener: (name: string) => void): void;
}

export interface StoreHealth {
  readonly healthy: boolean;
  readonly message: string;
}

export interface RunningWorkload {
  readonly name: string;
  /** Of the workload as it was applied last; what is rendered now is compared with them. */
  readonly inputs: readonly RestartInput[];
  /** Of all instances together. */
  readonly state: WorkloadState;
  /** By name. Fewer than wanted while some are being made. */
  readonly instances: readonly Instance[];
  readonly wanted: number;
  /** Label selector of the pods; undefined where there are none. */
  readonly selector?: string;
  /** What the runtime cannot give; beside it an earlier version may run on. */
  readonly refused?: { readonly reason: RefusalReason; readonly message: string };
  /** By name of the claim. */
  readonly resizing?: readonly ResizingVolume[];
  /** HOST:PORT by port name. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** A volume whose size is not the one that was asked for. */
export interface ResizingVolume {
  /** Name of its PersistentVolumeClaim. */
  readonly claim: string;
  /** Quantities, as Kubernetes writes them. */
  readonly has: string;
  readonly asked: string;
  readonly state: 'growing' | 'waits-for-pod' | 'failed' | 'cannot-shrink';
  /** What the cluster says of it. */
  readonly message?: string;
}

/** One process or pod. */
export interface Instance {
  readonly name: string;
  /** Those it was started with. */
  readonly inputs: readonly RestartInput[];
  readonly state: InstanceState;
  readonly version?: string;
}

export type InstanceState =
  /** `waitsFor` is what the program itself says it waits for. */
  | { readonly kind: 'starting'; readonly message?: string; readonly waitsFor?: Missing }
  | { readonly kind: 'ready' }
  /** Runs, and stopped answering as ready. */
  | { readonly kind: 'not-ready'; readonly message: string; readonly waitsFor?: Missing }
  /** Will not become ready by itself: its program ends again and again, its image cannot be had, or no node took it for long. */
  | {
      readonly kind: 'broken';
      readonly restarts: number;
      readonly message: string;
      /** Its pod is refused: it was never made. */
      readonly refused?: true;
    }
  | { readonly kind: 'stopping' };

export type WorkloadState =
  | { readonly kind: 'starting'; readonly waitsFor?: Missing }
  | { readonly kind: 'ready' }
  /** Runs, and stopped answering as ready. */
  | { readonly kind: 'not-ready'; readonly message: string; readonly waitsFor?: Missing }
  | { readonly kind: 'crash-loop'; readonly restarts: number; readonly message: string }
  | { readonly kind: 'stopped' };

export type RefusalReason =
  'PortInUse' | 'ReplicasUnsupported' | 'StartFailed' | 'Conflict' | 'ObjectRefused' | 'VolumeNotGrown';
