import type { KubeObject } from './kube-api.ts';

/** The leader as a Lease records it. @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/ */
export interface LeaseRecord {
  /** Empty when there is no leader. */
  readonly holder: string;
  readonly durationMs: number;
  /** The written text. It is only compared with itself, since the clocks of two machines differ. */
  readonly renewTime: string;
  readonly acquireTime: string;
  readonly transitions: number;
}

export function readLease(lease: KubeObject): LeaseRecord {
  const spec = (lease['spec'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    holder: text(spec['holderIdentity']),
    durationMs: number(spec['leaseDurationSeconds']) * 1000,
    renewTime: text(spec['renewTime']),
    acquireTime: text(spec['acquireTime']),
    transitions: number(spec['leaseTransitions']),
  };
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const number = (value: unknown) => (typeof value === 'number' ? value : 0);

export function leaseSpec(record: LeaseRecord) {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: Math.ceil(record.durationMs / 1000),
    renewTime: record.renewTime,
    acquireTime: record.acquireTime,
    leaseTransitions: record.transitions,
  };
}

/** Formats a MicroTime of Kubernetes. The API server refuses a time without six digits of a second. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
