import type { KubeObject } from '../../kube/kube-api.ts';
import type { Workload } from '../../workload.ts';
import { podSelector, workloadMeta } from './labels.ts';
import type { ObjectContext } from './object-context.ts';
import { wantedReplicas } from './stateful-set.ts';

/** A lone instance has none: it would keep its node from ever being drained. */
export function disruptionBudget(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  if (wantedReplicas(workload) < 2) return [];
  return [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: workloadMeta(workload, context, workload.name),
      spec: {
        maxUnavailable: 1,
        selector: { matchLabels: podSelector(workload.name) },
        // A pod that is broken anyway may go, or a crash loop would keep its node from being drained.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    },
  ];
}
