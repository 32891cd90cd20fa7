import type { KubernetesOptions, PodOptions } from '../workload.ts';

/** Seconds that Kubernetes gives an instance to end, where the resource says nothing else. */
const standardGraceSeconds = 30;

const plainPod: PodOptions = {
  imagePullSecrets: [],
  labels: {},
  annotations: {},
  terminationGracePeriodSeconds: standardGraceSeconds,
};

/** What a resource asks of Kubernetes that says nothing about it. */
export function standardOptions(replicas: number): KubernetesOptions {
  return {
    pod: plainPod,
    reclaimPolicy: 'Retain',
    hibernated: false,
    services: {},
    ingresses: [],
    networkPolicy: undefined,
    monitoring: undefined,
    drainMs: drainMs(replicas),
  };
}

/**
 * A lone server gains nothing by taking requests after it was told to stop: there is no other to go to, and each millisecond makes
 * its outage longer.
 */
export function drainMs(replicas: number): number {
  return replicas > 1 ? 5000 : 0;
}
