import type { KubeObject } from '../../../operator/kube-client/kube-api.ts';
import type { KubernetesDouble } from '../kubernetes/kubernetes-double.ts';
import { isReady, podsOf } from './read-cluster.ts';

interface Disruptions {
  /** Names of pods whose deletion began, in order. */
  readonly deleted: readonly string[];
  /** Most pods of one workload that were missing or not ready at the same time, after all had been ready. */
  readonly maxConcurrent: number;
  /** Most workloads with a pod missing or not ready at the same time. */
  readonly mostWorkloads: number;
  readonly end: () => void;
}

/** Looks at every change of a pod, of workloads that are ready now. */
export function watchDisruptions(double: KubernetesDouble): Disruptions {
  const deleted: string[] = [];
  const down = new Map<string, number>();
  const wanted = new Map<string, number>();
  let [maxConcurrent, mostWorkloads] = [0, 0];
  for (const pod of double.list('pods')) {
    const workload = keyOf(pod);
    if (workload !== undefined) wanted.set(workload, (wanted.get(workload) ?? 0) + 1);
  }
  const end = double.onChange((before, after) => {
    const pod = after ?? before;
    const workload = pod?.kind === 'Pod' ? keyOf(pod) : undefined;
    if (pod === undefined || workload === undefined) return;
    const begins = after?.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined;
    if (begins) deleted.push(pod.metadata.name);
    const [namespace = '', name = ''] = workload.split('/');
    const ready = podsOf(double, name, namespace).filter(isReady).length;
    const missing = Math.max(0, (wanted.get(workload) ?? 0) - ready);
    if (missing === 0) down.delete(workload);
    else down.set(workload, missing);
    maxConcurrent = Math.max(maxConcurrent, missing);
    mostWorkloads = Math.max(mostWorkloads, down.size);
  });
  return {
    deleted,
    end,
    get maxConcurrent() {
      return maxConcurrent;
    },
    get mostWorkloads() {
      return mostWorkloads;
    },
  };
}

function keyOf({ metadata }: KubeObject): string | undefined {
  const workload = metadata.labels?.['coffer.dev/workload'];
  return workload === undefined ? undefined : `${metadata.namespace}/${workload}`;
}
