import type { Missing } from '../../protocol/waits-for.ts';
import type { Secret } from './secret.ts';
import type { CertificateNeed, IssuedCertificate, RestartInput, Workload } from './workload.ts';

/**
 * Runs the workloads of one namespace: as processes of this machine, or as pods. The reconciler decides; a runtime obeys and reports. The
 * only decision of a runtime is when to restart a crashed program.
 */
export interface Runtime {
  /**
   * Makes the certificates that are missing or about to expire, and keeps their keys, so that their identities stay. Answers them by name;
   * a certificate that cert-manager has not made yet is missing. Errors with `ResourceError`.
   */
  ensureCertificates(needs: readonly CertificateNeed[]): Promise<ReadonlyMap<string, IssuedCertificate>>;
  observe(): Promise<readonly RunningWorkload[]>;
  /** Observes one workload; undefined when it does not exist. */
  observeOne(name: string): Promise<RunningWorkload | undefined>;
  /**
   * Makes the volumes, addresses, number of instances and reloading files match the workload. A change that needs a restart (`inputs`) is
   * recorded for instances that start from now on; running ones stay until `replace`. The first `apply` starts all instances. `secrets` has
   * every Secret that the files name. `proven` are found volumes that the check has proven: they are taken, and belong to nothing, so that
   * no deletion of a resource removes them. Resolves once the work is under way, not when it is ready.
   */
  apply(workload: Workload, secrets: ReadonlyMap<string, Secret>, proven?: readonly string[]): Promise<void>;
  /** Applies everything that needs no restart. The recorded inputs stay. */
  refresh(workload: Workload, secrets: ReadonlyMap<string, Secret>, proven?: readonly string[]): Promise<void>;
  /**
   * Renews what would expire in a paused workload: it rewrites certificates and values of Secrets that the program re-reads (`isRenewed`),
   * and changes nothing else. It does nothing when nothing runs.
   */
  renew(workload: Workload, secrets: ReadonlyMap<string, Secret>): Promise<void>;
  /** Returns the volumes with the names of the workload's own that the operator did not make for it: restored ones, or foreign ones. */
  foundVolumes(workload: Workload): Promise<readonly string[]>;
  /** Returns the volume with the records of a server; undefined where there is none yet, or where nothing but its owner can use it. */
  dataVolume(server: DataVolumeOwner): Promise<DataVolume | undefined>;
  /** Records on the volume of a server which deployment's data it holds, so that it proves itself after a restore. */
  recordDeployment(server: DataVolumeOwner, deployment: string): Promise<void>;
  /**
   * Runs the check of a workload once, beside its instances. Returns why it failed, or undefined when it has passed. `found` are volumes
   * that it has to prove. Errors only with `ResourceError`.
   */
  check(
    workload: Workload,
    secrets: ReadonlyMap<string, Secret>,
    found: readonly string[],
  ): Promise<string | undefined>;
  /** Ends one instance. It comes back as the workload was last applied. */
  replace(name: string, instance: string): Promise<void>;
  /** Reports whether the store can spare an instance. The reconciler asks before it replaces a ready one of several. */
  storeHealth(name: string): Promise<StoreHealth>;
  /** Reports whether the key store of a key service was away when it was asked last. Its pods stay ready then. */
  isKeyStoreAway(name: string): boolean;
  /** Stops the workload, removes its certificates, and keeps its data. It does nothing when there is no such workload. */
  remove(name: string): Promise<void>;
  /** Reports whether a workload has volumes, also after it was removed, or runs: then it may have data. */
  hasData(name: string): Promise<boolean>;
  /** Calls the listener with the name of a workload whose instances changed. */
  onChange(listener: (name: string) => void): void;
}

export type DataVolumeOwner = Pick<Workload, 'name' | 'owner' | 'program'>;

export interface DataVolume {
  readonly claim: string;
  /** The ID of the deployment whose data it holds, as `recordDeployment` left it. */
  readonly deployment?: string | undefined;
  /** The UID of the claim, where it was there before the server and nothing tells what it holds. */
  readonly unproven?: string | undefined;
}

export interface StoreHealth {
  readonly healthy: boolean;
  readonly message: string;
}

export interface RunningWorkload {
  readonly name: string;
  /** Inputs of the last applied workload, to compare with the rendered ones. */
  readonly inputs: readonly RestartInput[];
  /** State of all instances together. */
  readonly state: WorkloadState;
  /** Instances by name. There are fewer than wanted while some are being made. */
  readonly instances: readonly Instance[];
  readonly wanted: number;
  /** Label selector of the pods; undefined in the local runtime. */
  readonly selector?: string;
  /** The part of the workload that the runtime cannot provide. An earlier version may still run. */
  readonly rejected?: { readonly reason: RefusalReason; readonly message: string };
  /** Kinds of objects that the workload asks for, and that the cluster does not know. */
  readonly absentKinds?: readonly string[];
  /** The changes of the cluster to the objects of the workload. The operator leaves them as they are. */
  readonly clusterRules?: readonly ClusterRule[];
  /** Volumes by the name of the claim. */
  readonly resizing?: readonly ResizingVolume[];
  /** Claims that were deleted while an instance uses them. The cluster removes them, with the data, when the instance ends. */
  readonly deletedClaims?: readonly string[];
  /** HOST:PORT by the name of the port. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** A change that comes back whenever the operator writes an object. */
export interface ClusterRule {
  /** `StatefulSet demo-server`. */
  readonly object: string;
  /** Field managers that change it again; none where the API server answers the write with it, as with an admission policy. */
  readonly managers: readonly string[];
  /** `spec.template.spec.containers.server.image`. */
  readonly paths: readonly string[];
}

/** A volume that does not have the requested size. */
export interface ResizingVolume {
  /** Name of its PersistentVolumeClaim. */
  readonly claim: string;
  readonly namespace?: string;
  /** Sizes as quantities of Kubernetes. */
  readonly has: string;
  readonly asked: string;
  readonly state: 'growing' | 'waits-for-pod' | 'failed' | 'cannot-shrink' | 'taken-back';
  /** Message of the cluster. */
  readonly message?: string;
}

/** One process or pod. */
export interface Instance {
  readonly name: string;
  /** Inputs that it was started with. */
  readonly inputs: readonly RestartInput[];
  readonly state: InstanceState;
  readonly version?: string;
}

export type InstanceState =
  /** `waitsFor` is what the program reports that it waits for. */
  | { readonly kind: 'starting'; readonly message?: string; readonly waitsFor?: Missing }
  | { readonly kind: 'ready' }
  /** It runs, and no longer answers as ready. */
  | { readonly kind: 'not-ready'; readonly message: string; readonly waitsFor?: Missing }
  /** It will not become ready by itself: its program ends again and again, its image is not available, or no node takes it for long. */
  | {
      readonly kind: 'broken';
      readonly restarts: number;
      readonly message: string;
      /** True when the pod was refused and never made. */
      readonly rejected?: true;
    }
  | { readonly kind: 'stopping' };

export type WorkloadState =
  | { readonly kind: 'starting'; readonly waitsFor?: Missing }
  | { readonly kind: 'ready' }
  /** It runs, and no longer answers as ready. */
  | { readonly kind: 'not-ready'; readonly message: string; readonly waitsFor?: Missing }
  | { readonly kind: 'crash-loop'; readonly restarts: number; readonly message: string }
  | { readonly kind: 'stopped' };

export type RefusalReason =
  'PortInUse' | 'ReplicasUnsupported' | 'StartFailed' | 'Conflict' | 'ObjectRefused' | 'KindUnknown' | 'VolumeNotGrown';
