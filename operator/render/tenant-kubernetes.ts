import type { Tenant } from '../api/object.ts';
import type { KubernetesOptions, NetworkPolicyOptions } from '../workload.ts';
import { drainMs, ingressOptions, monitoringOptions, podOptions, serviceOptions } from './kubernetes-options.ts';

const ports = ['s3', 'console'] as const;

/** What a Tenant asks of Kubernetes beside running its server. `rootSecret`: the Secret with its root credentials. */
export function tenantKubernetes({ spec }: Tenant, rootSecret: string): KubernetesOptions {
  return {
    pod: {
      ...podOptions(spec),
      ...(spec.kubernetesServiceAccounts === undefined ? {} : { serviceAccountToken: true }),
    },
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
    monitoring: monitoringOptions(spec.monitoring, {
      port: 's3',
      path: '/minio/v2/metrics/cluster',
      ...(metricsArePublic(spec)
        ? {}
        : { tokenFrom: { secret: rootSecret, userKey: 'rootUser', passwordKey: 'rootPassword' } }),
    }),
    drainMs: drainMs(spec.replicas),
  };
}

/** Where the setting comes from a ConfigMap there is a token, which does no harm. */
function metricsArePublic({ settings = [] }: Tenant['spec']): boolean {
  return settings.some(({ name, value }) => name === 'SVC_PROMETHEUS_AUTH_TYPE' && value === 'public');
}

/** The runtime lets the operator itself in besides. */
function networkPolicy({ enabled, from }: Tenant['spec']['networkPolicy']): NetworkPolicyOptions | undefined {
  if (!enabled) return undefined;
  if (from === undefined) return { admits: { s3: undefined, console: undefined }, alsoFrom: [] };
  return { admits: { s3: [], console: [] }, alsoFrom: from };
}
