import type { KubeObject } from '../../operator/kube/kube-api.ts';

export type KStatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

interface ReadStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/**
 * What Flux, kpt and `cli-utils` take a custom resource for. One without any of these fields is Current: a resource that nobody
 * reconciles looks healthy.
 *
 * @see https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
export function kstatus({ metadata, status }: KubeObject): KStatus {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const { observedGeneration, conditions = [] } = (status ?? {}) as ReadStatus;
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) return 'InProgress';
  const of = (type: string): string | undefined => conditions.find((condition) => condition.type === type)?.status;
  if (of('Reconciling') === 'True') return 'InProgress';
  if (of('Stalled') === 'True') return 'Failed';
  return of('Ready') === undefined || of('Ready') === 'True' ? 'Current' : 'InProgress';
}
