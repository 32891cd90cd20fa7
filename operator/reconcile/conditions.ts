import type { Condition } from '../api/object.ts';

/** What a pass found; times and generation are added when it is laid over the conditions before. */
export interface Finding {
  readonly type: 'Ready' | 'Reconciling' | 'Stalled' | 'IdentityReady' | 'KMSReady';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface ResourceStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly servers?: string;
  readonly version?: string;
  readonly issuer?: string;
  readonly addresses?: Readonly<Record<string, string>>;
}

/**
 * The conditions after a pass. A condition's time is that of the last change of its status; one that was not found is left out, as
 * kstatus wants it of Reconciling and Stalled.
 */
export function mergeConditions(
  before: readonly Condition[],
  findings: readonly Finding[],
  generation: number,
  now: Date,
): readonly Condition[] {
  const known = new Map(before.map((condition) => [condition.type, condition]));
  return findings.map((finding) => {
    const old = known.get(finding.type);
    return {
      ...finding,
      observedGeneration: generation,
      lastTransitionTime: old?.status === finding.status ? old.lastTransitionTime : now.toISOString(),
    };
  });
}

export function ready(message: string): Finding {
  return { type: 'Ready', status: 'True', reason: 'Ready', message };
}

export function notReady(reason: string, message: string): Finding {
  return { type: 'Ready', status: 'False', reason, message };
}

/** Abnormal-true: there while work is under way. */
export function reconciling(reason: string, message: string): Finding {
  return { type: 'Reconciling', status: 'True', reason, message };
}

/** Abnormal-true: there while nothing will change by itself. */
export function stalled(reason: string, message: string): Finding {
  return { type: 'Stalled', status: 'True', reason, message };
}
