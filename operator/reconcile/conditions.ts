import { redactText } from '../../platform/output/redact-secrets.ts';
import type { KeyCanaries } from '../../protocol/key-service/canary.ts';
import type { Condition } from '../api/object.ts';

/** A condition as a reconcile sets it. `mergeConditions` adds the time and the generation. */
export interface ConditionUpdate {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  /** It holds no number that changes by itself, such as a duration, so that a status settles. */
  readonly message: string;
}

export type ConditionType =
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
  | 'IdentityReady'
  | 'KMSReady'
  | 'TLSReady'
  | 'TiersReady'
  | 'RolloutBlocked'
  | 'VolumeResizing'
  | 'VolumeFull'
  | 'MonitoringReady'
  | 'UpgradeHeld'
  | 'SwapPossible'
  | 'KeyStoreUnavailable'
  | 'StorePromoted'
  | 'ChangedByCluster'
  | 'OtherOperator';

export interface ResourceStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  /** Ready and wanted servers: `2/3`. */
  readonly servers?: string;
  /** Number of pods, ready or not. The scale subresource reports it together with the selector of the pods. */
  readonly replicas?: number;
  readonly selector?: string;
  readonly health?: Health;
  /** Version of the running servers; several versions while they are replaced. */
  readonly version?: string;
  readonly rollout?: RolloutStatus;
  readonly certificates?: readonly CertificateStatus[];
  readonly issuer?: string;
  readonly addresses?: Readonly<Record<string, string>>;
  readonly bucketName?: string;
  readonly policyName?: string;
  readonly accessKey?: string;
  readonly credentialsSecret?: string;
  /** The fingerprint of the secret key that the server had last. */
  readonly credentials?: string;
  /** The policies that a PolicyBinding attached, so that a later change can detach them. */
  readonly attached?: readonly Attached[];
  /** The settings of the bucket that a Bucket wrote, so that it removes those that it no longer names. */
  readonly settings?: readonly string[];
  /** The remote targets that a Bucket added. */
  readonly replicationTargets?: readonly AddedTarget[];
  /** The tiers that a Tenant added. */
  readonly tiers?: readonly AddedTier[];
  /** The key service whose keys encrypt the data of a Tenant. */
  readonly keyService?: KeyServiceInUse;
  /** The canaries of the keys that sealed the data of a Tenant, as its server told them last. */
  readonly keys?: readonly KeyCanaries[];
  /** The ID of the deployment whose data the store of a Tenant holds. */
  readonly deployment?: string;
}

/** The fields of a `kmsConfigRef` that decide which keys a tenant can use. */
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

/** `credentials` is the fingerprint of the credentials that were set last: a server does not return them. */
export interface AddedTarget {
  readonly name: string;
  readonly arn: string;
  readonly credentials: string;
}

export type AddedTier = Pick<AddedTarget, 'name' | 'credentials'>;

export type Health = 'Healthy' | 'Degraded' | 'Unavailable' | 'Hibernated' | 'Unknown';

/** Present while instances are replaced. */
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
 * Returns the conditions after a reconcile. The time of a condition is that of the last change of its status. A condition without an
 * update is dropped, as kstatus requires for Reconciling and Stalled.
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
      // The words of a server or a library may repeat an address with a password.
      message: redactText(update.message),
      observedGeneration: generation,
      lastTransitionTime: old?.status === update.status ? old.lastTransitionTime : now.toISOString(),
    };
  });
}

/** One statement in three conditions: a reconcile sets all of them. */
const progress: readonly string[] = ['Ready', 'Reconciling', 'Stalled'] satisfies readonly ConditionType[];

/**
 * Returns the conditions after an incomplete reconcile: those that it set, and the others as they were. A condition of a type in `observed` that it
 * did not set is gone. The order stays, so that the same conditions are no change.
 */
export function besideConditions(
  before: readonly Condition[],
  set: readonly Condition[],
  observed: readonly string[],
): readonly Condition[] {
  const byType = new Map(set.map((condition) => [condition.type, condition]));
  const gone = new Set(byType.has('Ready') ? [...observed, ...progress] : observed);
  const known = new Set(before.map(({ type }) => type));
  const kept = before.filter(({ type }) => byType.has(type) || !gone.has(type));
  return [
    ...kept.map((condition) => byType.get(condition.type) ?? condition),
    ...set.filter(({ type }) => !known.has(type)),
  ];
}

export function ready(message: string, reason = 'Ready'): ConditionUpdate {
  return { type: 'Ready', status: 'True', reason, message };
}

export function notReady(reason: string, message: string): ConditionUpdate {
  return { type: 'Ready', status: 'False', reason, message };
}

/** Abnormal-true: present while work is under way. */
export function reconciling(reason: string, message: string): ConditionUpdate {
  return { type: 'Reconciling', status: 'True', reason, message };
}

/** Abnormal-true: present while nothing will change by itself. */
export function stalled(reason: string, message: string): ConditionUpdate {
  return { type: 'Stalled', status: 'True', reason, message };
}

/** Abnormal-true: present while a key service, whose memory cannot be locked, runs on nodes with swap. */
export function swapPossible(nodes: readonly string[]): ConditionUpdate {
  const message =
    `it holds keys in memory, and these of its nodes have swap: ${nodes.join(', ')}; turn swap off there or encrypt it, unless their ` +
    'kubelets give pods none (memorySwap.swapBehavior: NoSwap)';
  return { type: 'SwapPossible', status: 'True', reason: 'NodeHasSwap', message };
}

/** Abnormal-true: present while the key store of a key service does not answer. Its pods stay ready, and serve the keys in their memory. */
export function keyStoreUnavailable(): ConditionUpdate {
  const message =
    'its key store does not answer or refuses: the keys in the memory of its pods serve until they expire (spec.cache), and others are answered ' +
    'by 502 or 504; see the log of a pod for the reason';
  return { type: 'KeyStoreUnavailable', status: 'True', reason: 'KeyStoreAway', message };
}

/** Abnormal-true: present while a restart is needed and not allowed; its time is the start of that state. */
export function rolloutBlocked(reason: string, message: string): ConditionUpdate {
  return { type: 'RolloutBlocked', status: 'True', reason, message };
}
