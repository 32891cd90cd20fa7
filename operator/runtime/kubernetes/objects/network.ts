import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Json, Port, ServiceOptions, Workload, IngressOptions } from '../../../contract/workload.ts';
import { headlessLabel, podSelector, workloadMeta } from './labels.ts';
import type { ObjectContext } from './object-context.ts';

/** The headless Service, which gives each pod a name. */
export function headlessServiceName(workload: string): string {
  return `${workload}-headless`;
}

/**
 * Makes one Service with the name of the workload and all its ports, which is the address that other programs get, and one for each port
 * with options in the resource. So no option changes the first Service.
 */
export function services(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  return [
    service(workload, context, workload.name, { type: 'ClusterIP' }, workload.ports),
    headlessService(workload, context),
    ...workload.ports.flatMap((port) => {
      const options = workload.kubernetes.services[port.name];
      return options === undefined ? [] : [ownService(workload, context, port, options)];
    }),
  ];
}

function portServiceName(workload: string, port: string): string {
  return `${workload}-${port}`;
}

function headlessService(workload: Workload, context: ObjectContext): KubeObject {
  // Pods find each other before they are ready.
  const fields = { type: 'ClusterIP', clusterIP: 'None', publishNotReadyAddresses: true };
  const made = service(workload, context, headlessServiceName(workload.name), fields, workload.ports);
  return { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, [headlessLabel]: 'true' } } };
}

function ownService(workload: Workload, context: ObjectContext, port: Port, options: ServiceOptions): KubeObject {
  const { type, nodePort, labels, annotations } = options;
  const fields = {
    type,
    ...(options.loadBalancerClass === undefined ? {} : { loadBalancerClass: options.loadBalancerClass }),
    ...(options.loadBalancerSourceRanges === undefined
      ? {}
      : { loadBalancerSourceRanges: options.loadBalancerSourceRanges }),
    ...(options.externalTrafficPolicy === undefined ? {} : { externalTrafficPolicy: options.externalTrafficPolicy }),
  };
  const entry = {
    ...servicePort(port),
    port: options.port ?? port.port,
    ...(nodePort === undefined ? {} : { nodePort }),
  };
  const made = service(workload, context, portServiceName(workload.name, port.name), fields, [], [entry]);
  return {
    ...made,
    metadata: { ...made.metadata, labels: { ...labels, ...made.metadata.labels }, annotations },
  };
}

function service(
  workload: Workload,
  context: ObjectContext,
  name: string,
  fields: Readonly<Record<string, Json>>,
  ports: readonly Port[],
  entries: readonly Json[] = ports.map(servicePort),
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: workloadMeta(workload, context, name),
    spec: { ...whenNotReady(workload), ...fields, selector: podSelector(workload.name), ports: entries },
  };
}

/**
 * A lone instance gets requests before it is ready, since no other instance could take them. It answers what it waits for, and is reached
 * as soon as it listens, without the delay of probe, endpoints and proxies.
 */
function whenNotReady({ replicas }: Workload): Readonly<Record<string, Json>> {
  return { publishNotReadyAddresses: replicas === 1 };
}

function servicePort({ name, port }: Port) {
  return { name, port, targetPort: name, protocol: 'TCP' };
}

/** Makes one Ingress for each host of each port. */
export function ingresses(workload: Workload, context: ObjectContext): readonly KubeObject[] {
  const used = new Map<string, number>();
  return workload.kubernetes.ingresses.map((options) => {
    const count = (used.get(options.port) ?? 0) + 1;
    used.set(options.port, count);
    const name = `${workload.name}-${options.port}${count === 1 ? '' : `-${count}`}`;
    return ingress(workload, context, name, options);
  });
}

function ingress(workload: Workload, context: ObjectContext, name: string, options: IngressOptions): KubeObject {
  const { host, className, annotations, tlsSecretName } = options;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { ...workloadMeta(workload, context, name), annotations },
    spec: {
      ...(className === undefined ? {} : { ingressClassName: className }),
      ...(tlsSecretName === undefined ? {} : { tls: [{ hosts: [host], secretName: tlsSecretName }] }),
      rules: [
        {
          host,
          http: {
            paths: [
              {
                path: '/',
                pathType: 'Prefix',
                backend: { service: { name: workload.name, port: { name: options.port } } },
              },
            ],
          },
        },
      ],
    },
  };
}

/**
 * Restricts incoming connections. Outgoing ones are not restricted: only the user knows where identity providers and keystores are. Probes
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
    // A rule without `from` admits all sources.
    if (workloads === undefined) return [{ ports }];
    const from = [...workloads.map(peerOf), ...options.alsoFrom, ...operatorPeers(context.operatorNamespace)];
    // An empty `from` would admit all sources too.
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
