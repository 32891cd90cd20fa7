import type { Tenant } from '../api/object.ts';
import type { KubernetesOptions, NetworkPolicyOptions } from '../workload.ts';
import { drainMs, ingressOptions, monitoringOptions, podOptions, serviceOptions } from './kubernetes-options.ts';

const ports = ['s3', 'console'] as const;

/** What a Tenant asks of Kubernetes beside running its server. */
export function tenantKubernetes({ spec }: Tenant): KubernetesOptions {
  return {
    pod: podOptions(spec),
    reclaimPolicy: spec.reclaimPolicy,
    hibernated: spec.hibernated,
    services: Object.fromEntries(
      ports.flatMap((port) => {
        const service = spec.services?.[port];
        return service === undefined ? [] : [[port, serviceOptions(service)]];
      }),
    ),
    ingresses: ports.flatMap((port) => {
      const ingress = spec.ingress?.[port];
      return ingress === undefined ? [] : [ingressOptions(port, ingress)];
    }),
    networkPolicy: networkPolicy(spec.networkPolicy),
    monitoring: monitoringOptions(spec.monitoring, { port: 's3', path: '/minio/v2/metrics/cluster' }),
    drainMs: drainMs(spec.replicas),
  };
}

/** The runtime lets the operator itself in besides. */
function networkPolicy({ enabled, from }: Tenant['spec']['networkPolicy']): NetworkPolicyOptions | undefined {
  if (!enabled) return undefined;
  if (from === undefined) return { admits: { s3: undefined, console: undefined }, alsoFrom: [] };
  return { admits: { s3: [], console: [] }, alsoFrom: from };
}
