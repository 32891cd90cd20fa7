import type { KubeObject } from '../../kube/kube-api.ts';
import type { Json, Port, ServiceOptions, Workload } from '../../workload.ts';
import { headlessLabel, podSelector, workloadMeta } from './labels.ts';
import type { ObjectContext } from './object-context.ts';

/** Gives each pod a name of its own. */
export function headlessServiceName(workload: string): string {
  return `${workload}-headless`;
}

/**
 * One Service of the workload's own name with all its ports at their own numbers, whatever the resource says, since that is the
 * address which other programs are given; and one for each port that the resource has wishes for, so that no wish changes the first.
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

export function portServiceName(workload: string, port: string): string {
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
 * There is no other instance that requests could go to: a lone one tells itself what it is waiting for, and is reached the moment it
 * listens, not when probe, endpoints and proxies have heard of it.
 */
function whenNotReady({ replicas }: Workload): Readonly<Record<string, Json>> {
  return { publishNotReadyAddresses: replicas === 1 };
}

function servicePort({ name, port }: Port) {
  return { name, port, targetPort: name, protocol: 'TCP' };
}
