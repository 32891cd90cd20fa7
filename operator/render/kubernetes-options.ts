import type { z } from 'zod';
import type { ingress, monitoring, service, PodFields } from '../api/kubernetes-fields.ts';
import type {
  IngressOptions,
  Json,
  MonitoringOptions,
  PodOptions,
  ServiceOptions,
  KubernetesOptions,
  NetworkPolicyOptions,
} from '../contract/workload.ts';
import { milliseconds } from './rendered-part.ts';
import type { Tenant } from '../api/object.ts';

/**
 * Returns how long a stopping server still accepts requests, each answered with `Connection: close`, so that its clients and the
 * endpoints of its Service have left it when it stops. A lone server has no delay: no other server could take its clients, so that a delay
 * only extends its outage.
 */
export function shutdownDelay(replicas: number): string | undefined {
  return replicas > 1 ? '5s' : undefined;
}

/** Returns the pod options of a spec. `more` has the operator's own: its labels win, and its affinity is added. */
export function podOptions(
  spec: PodFields,
  more: { readonly labels?: Readonly<Record<string, string>>; readonly sameNodeAs?: string } = {},
): PodOptions {
  return {
    ...given('imagePullPolicy', spec.imagePullPolicy),
    imagePullSecrets: (spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...given('serviceAccountName', spec.serviceAccountName),
    labels: { ...spec.podLabels, ...more.labels },
    annotations: spec.podAnnotations ?? {},
    ...given('resources', spec.resources),
    ...given('nodeSelector', spec.nodeSelector),
    ...given('tolerations', spec.tolerations),
    ...given('affinity', more.sameNodeAs === undefined ? spec.affinity : onNodeOf(more.sameNodeAs, spec.affinity)),
    ...given('topologySpreadConstraints', spec.topologySpreadConstraints),
    ...given('priorityClassName', spec.priorityClassName),
    ...given('runtimeClassName', spec.runtimeClassName),
    ...given('podSecurityContext', spec.podSecurityContext),
    ...given('containerSecurityContext', spec.containerSecurityContext),
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
  };
}

function serviceOptions(spec: z.output<typeof service>): ServiceOptions {
  return {
    type: spec.type,
    ...given('port', spec.port),
    ...given('nodePort', spec.nodePort),
    labels: spec.labels ?? {},
    annotations: spec.annotations ?? {},
    ...given('loadBalancerClass', spec.loadBalancerClass),
    ...given('loadBalancerSourceRanges', spec.loadBalancerSourceRanges),
    ...given('externalTrafficPolicy', spec.externalTrafficPolicy),
  };
}

function ingressOptions(port: string, spec: z.output<typeof ingress>): IngressOptions {
  return {
    port,
    host: spec.host,
    ...given('className', spec.className),
    annotations: spec.annotations ?? {},
    ...given('tlsSecretName', spec.tlsSecretName),
  };
}

export function monitoringOptions(
  spec: z.output<typeof monitoring> | undefined,
  at: Pick<MonitoringOptions, 'port' | 'path' | 'tokenFrom'>,
): MonitoringOptions | undefined {
  if (spec === undefined) return undefined;
  const { interval, labels } = spec.serviceMonitor;
  return {
    ...at,
    ...(interval === undefined ? {} : { intervalSeconds: milliseconds(interval) / 1_000 }),
    labels: labels ?? {},
  };
}

/** Pods that mount one ReadWriteOnce volume must run on one node, or all but the first would wait forever. */
function onNodeOf(workload: string, affinity: Readonly<Record<string, Json>> | undefined): Json {
  const podAffinity = object(affinity?.['podAffinity']);
  const required = podAffinity['requiredDuringSchedulingIgnoredDuringExecution'];
  const term: Json = {
    labelSelector: { matchLabels: { 'coffer.dev/workload': workload } },
    topologyKey: 'kubernetes.io/hostname',
  };
  return {
    ...affinity,
    podAffinity: {
      ...podAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: [...(Array.isArray(required) ? (required as Json[]) : []), term],
    },
  };
}

function object(value: Json | undefined): Readonly<Record<string, Json>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}

/** Returns `{ [key]: value }`, or an empty object without a value. */
function given<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value };
}

const ports = ['s3', 'console'] as const;

/** Returns the Kubernetes options of a Tenant. `rootSecret` names the Secret with its root credentials. */
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
  };
}

/** A setting from a ConfigMap is not known here; then there is a token, which does no harm. */
function metricsArePublic({ settings = [] }: Tenant['spec']): boolean {
  return settings.some(({ name, value }) => name === 'SVC_PROMETHEUS_AUTH_TYPE' && value === 'public');
}

/** The runtime also admits the operator itself. */
function networkPolicy({ enabled, from }: Tenant['spec']['networkPolicy']): NetworkPolicyOptions | undefined {
  if (!enabled) return undefined;
  if (from === undefined) return { admits: { s3: undefined, console: undefined }, alsoFrom: [] };
  return { admits: { s3: [], console: [] }, alsoFrom: from };
}
