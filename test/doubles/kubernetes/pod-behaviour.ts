import type { KubeObject } from '../../../operator/kube/kube-api.ts';

/** What a simulated pod does, as long as its test says so. */
export type PodBehaviour =
  /** Runs, and its probe succeeds. */
  | { readonly kind: 'ready' }
  /** Runs, and its probe fails. */
  | { readonly kind: 'not-ready' }
  /** No node takes it. */
  | { readonly kind: 'pending' }
  /** Its program ends again and again. */
  | { readonly kind: 'crash-loop'; readonly restarts: number; readonly message: string }
  | { readonly kind: 'image-pull-back-off' }
  /** Its program ends for good, with this termination message. */
  | { readonly kind: 'completed'; readonly exitCode: number; readonly message: string };

export type Behave = (pod: KubeObject) => PodBehaviour;

/** Ready, but for images with `bad` in their name, which cannot be had. */
export function wellBehaved(pod: KubeObject): PodBehaviour {
  const { containers } = pod['spec'] as { containers: readonly { image?: string }[] };
  return containers.some(({ image }) => image?.includes('bad')) ? { kind: 'image-pull-back-off' } : { kind: 'ready' };
}

/** The pods of a workload, by the operator's labels. */
export function ofWorkload(workload: string): (pod: KubeObject) => boolean {
  return (pod) => pod.metadata.labels?.['coffer.dev/workload'] === workload;
}
