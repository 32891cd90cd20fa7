import type { Condition } from '../api/object.ts';

/** What a pass found; times and generation are added when it is laid over the conditions before. */
export interface ConditionUpdate {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  /** Without numbers that change by themselves, such as durations: a status settles. */
  readonly message: string;
}

export type ConditionType =
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
  | 'IdentityReady'
  | 'KMSReady'
  | 'TLSReady'
  | 'RolloutBlocked'
  | 'VolumeResizing'
  | 'UpgradeHeld'
  | 'SwapPossible';

export interface ResourceStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  /** Ready of wanted: `2/3`. */
  readonly servers?: string;
  /** Pods that there are, ready or not: what the scale subresource tells, with the selector that finds them. */
  readonly replicas?: number;
  readonly selector?: string;
  readonly health?: Health;
  /** Of what runs; several while they are replaced. */
  readonly version?: string;
  readonly rollout?: RolloutStatus;
  readonly certificates?: readonly CertificateStatus[];
  readonly issuer?: string;
  readonly addresses?: Readonly<Record<string, string>>;
  readonly bucketName?: string;
  readonly policyName?: string;
  readonly accessKey?: string;
  readonly credentialsSecret?: string;
  /** What a PolicyBinding attached, so that what it no longer names can be taken away again. */
  readonly attached?: readonly Attached[];
  /** The key service whose keys sealed the data of a Tenant. */
  readonly keyService?: KeyServiceInUse;
}

/** What of a `kmsConfigRef` decides which keys a tenant can use. */
export interface KeyServiceInUse {
  readonly name: string;
  readonly keyPrefix: string;
  readonly defaultKey?: string | undefined;
}

export interface Attached {
  /** `user ann`, `group readers`, `claim PROVIDER NAME=VALUE`. */
  readonly to: string;
  readonly policies: readonly string[];
}

export type Health = 'Healthy' | 'Degraded' | 'Unavailable' | 'Hibernated' | 'Unknown';

/** There while instances are replaced. */
export interface RolloutStatus {
  readonly reason: string;
  readonly updated: number;
  readonly total: number;
}

export interface CertificateStatus {
  readonly name: string;
  /** ISO 8601. */
  readonly notAfter: string;
}

/**
 * The conditions after a pass. A condition's time is that of the last change of its status; one that was not found is left out, as
 * kstatus wants it of Reconciling and Stalled.
 */
export function mergeConditions(
  before: readonly Condition[],
  updates: readonly ConditionUpdate[],
  generation: number,
  now: Date,
): readonly Condition[] {
  const known = new Map(before.map((condition) => [condition.type, condition]));
  return updates.map((update) => {
    const old = known.get(update.type);
    return {
      ...update,
      observedGeneration: generation,
      lastTransitionTime: old?.status === update.status ? old.lastTransitionTime : now.toISOString(),
    };
  });
}

export function ready(message: string, reason = 'Ready'): ConditionUpdate {
  return { type: 'Ready', status: 'True', reason, message };
}

export function notReady(reason: string, message: string): ConditionUpdate {
  return { type: 'Ready', status: 'False', reason, message };
}

/** Abnormal-true: there while work is under way. */
export function reconciling(reason: string, message: string): ConditionUpdate {
  return { type: 'Reconciling', status: 'True', reason, message };
}

/** Abnormal-true: there while nothing will change by itself. */
export function stalled(reason: string, message: string): ConditionUpdate {
  return { type: 'Stalled', status: 'True', reason, message };
}

/** Abnormal-true: there while a key service, whose memory cannot be locked, runs on nodes with swap. */
export function swapPossible(nodes: readonly string[]): ConditionUpdate {
  const message =
    `it holds keys in memory, and these of its nodes have swap: ${nodes.join(', ')}; turn swap off there or encrypt it, unless their ` +
    'kubelets give pods none (memorySwap.swapBehavior: NoSwap)';
  return { type: 'SwapPossible', status: 'True', reason: 'NodeHasSwap', message };
}

/** Abnormal-true: there while something should restart and must not; its time tells since when. */
export function rolloutBlocked(reason: string, message: string): ConditionUpdate {
  return { type: 'RolloutBlocked', status: 'True', reason, message };
}
