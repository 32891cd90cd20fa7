import type { KubeObject } from '../../kube/kube-api.ts';
import type { Json, Workload } from '../../workload.ts';
import { podSelector, workloadMeta } from './labels.ts';
import type { ObjectContext } from './object-context.ts';

/**
 * Who may connect. What leaves the pods is not restricted: only the user knows where identity providers and keystores are. The probes
 * of the kubelet need no rule, since a node always reaches its own pods.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function networkPolicy(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  const options = workload.kubernetes.networkPolicy;
  if (options === undefined) return [];
  const ingress = workload.ports.flatMap(({ name, port }): readonly Json[] => {
    const ports = [{ protocol: 'TCP', port }];
    if (!Object.hasOwn(options.admits, name)) return [];
    const workloads = options.admits[name];
    // A rule without `from` admits everyone.
    if (workloads === undefined) return [{ ports }];
    const from = [...workloads.map(peerOf), ...options.alsoFrom, ...operatorPeers(context.operatorNamespace)];
    // An empty `from` would admit everyone too.
    return from.length === 0 ? [] : [{ ports, from }];
  });
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: workloadMeta(workload, context, workload.name),
      spec: { podSelector: { matchLabels: podSelector(workload.name) }, policyTypes: ['Ingress'], ingress },
    },
  ];
}

function peerOf(workload: string): Json {
  return { podSelector: { matchLabels: podSelector(workload) } };
}

/** The operator asks servers for the health of their store. */
function operatorPeers(namespace: string | undefined): readonly Json[] {
  if (namespace === undefined) return [];
  return [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'coffer-operator' } },
    },
  ];
}
