import type { KubeObject } from '../../../operator/kube-client/kube-api.ts';
import type { Condition } from '../../../operator/api/object.ts';
import { resourceTypes } from '../../../operator/kube-client/resource-types.ts';
import type { ResourceStatus } from '../../../operator/reconcile/conditions.ts';
import type { ResourceKind } from '../../../operator/contract/workload.ts';
import type { KubernetesDouble } from '../kubernetes/kubernetes-double.ts';

export type KStatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

interface ReadStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/**
 * What Flux, kpt and `cli-utils` take a custom resource for. One without any of these fields is Current: a resource that nobody
 * reconciles looks healthy.
 *
 * @see https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 */
export function kstatus({ metadata, status }: KubeObject): KStatus {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const { observedGeneration, conditions = [] } = (status ?? {}) as ReadStatus;
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) return 'InProgress';
  const of = (type: string): string | undefined => conditions.find((condition) => condition.type === type)?.status;
  if (of('Reconciling') === 'True') return 'InProgress';
  if (of('Stalled') === 'True') return 'Failed';
  return of('Ready') === undefined || of('Ready') === 'True' ? 'Current' : 'InProgress';
}

/** `Tenant demo`. */
export interface Resource {
  readonly kind: ResourceKind;
  readonly name: string;
  readonly namespace?: string;
}

function resourceObject(double: KubernetesDouble, { kind, name, namespace = 'default' }: Resource): KubeObject {
  const { plural } = Object.values(resourceTypes).find((type) => type.kind === kind) ?? { plural: '' };
  const found = double.get(`${plural}.coffer.dev`, namespace, name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

export function statusOf(double: KubernetesDouble, resource: Resource): Partial<ResourceStatus> {
  return resourceObject(double, resource)['status'] ?? {};
}

export function condition(double: KubernetesDouble, resource: Resource, type: string): Condition | undefined {
  return statusOf(double, resource).conditions?.find((other) => other.type === type);
}

/** The operator has said so of the generation that is there now. */
export function isCurrent(double: KubernetesDouble, resource: Resource): boolean {
  const object = resourceObject(double, resource);
  return object['status'] !== undefined && kstatus(object) === 'Current';
}

/** By name; of one workload: `demo-server`. */
export function podsOf(double: KubernetesDouble, workload: string, namespace = 'default'): readonly KubeObject[] {
  return double.list('pods', namespace).filter(({ metadata }) => metadata.labels?.['coffer.dev/workload'] === workload);
}

export function imageOf(pod: KubeObject): string | undefined {
  return (pod['spec'] as { readonly containers: readonly { readonly image?: string }[] }).containers[0]?.image;
}

/** What a pod was started with. */
export function inputsOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.['coffer.dev/inputs'];
}

export function uidsOf(objects: readonly KubeObject[]): readonly (string | undefined)[] {
  return objects.map(({ metadata }) => metadata.uid);
}

export function isReady(pod: KubeObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return (
    pod.metadata.deletionTimestamp === undefined &&
    conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  );
}

/** Reasons and messages of events about the object, in the order in which they were written. */
export function eventsOf(double: KubernetesDouble, { kind, name, namespace = 'default' }: Resource): readonly string[] {
  return double.list('events.events.k8s.io', namespace).flatMap((event) => {
    const { regarding, reason, note } = event as unknown as {
      readonly regarding: { readonly kind: string; readonly name: string };
      readonly reason: string;
      readonly note: string;
    };
    return regarding.kind === kind && regarding.name === name ? [`${reason}: ${note}`] : [];
  });
}
