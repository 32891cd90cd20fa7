import type { KubeObject } from '../../../operator/kube-client/kube-api.ts';
import type { KubernetesDouble } from '../kubernetes/kubernetes-double.ts';
import { kstatus, type KStatus, imageOf, inputsOf, podsOf } from './read-cluster.ts';

export interface Honesty {
  /** What was said and not true, for people. */
  readonly lies: readonly string[];
  /** What kstatus made of each status that was written, in order, without repetitions. */
  readonly seen: ReadonlyMap<string, readonly KStatus[]>;
  readonly end: () => void;
}

interface Spec {
  readonly image?: string;
  readonly replicas?: number;
  readonly hibernated?: boolean;
  readonly paused?: boolean;
}

const programs: Readonly<Record<string, string>> = { Tenant: 'server', KMSConfig: 'key-service' };

/** Looks at every status that is written: whether it may be taken for Current only while the pods are as the spec says. */
export function watchHonesty(double: KubernetesDouble): Honesty {
  const lies: string[] = [];
  const seen = new Map<string, KStatus[]>();
  const end = double.onChange((before, after) => {
    if (after?.apiVersion !== 'coffer.dev/v1alpha1' || after['status'] === undefined) return;
    if (before?.['status'] === after['status']) return;
    const key = `${after.kind} ${after.metadata.name}`;
    const now = kstatus(after);
    const former = seen.get(key) ?? [];
    if (former.at(-1) !== now) seen.set(key, [...former, now]);
    lies.push(...shapeProblems(after).map((issue) => `${key}: ${issue}`));
    if (now === 'Current') lies.push(...unrolled(double, after).map((issue) => `${key} is Current, and ${issue}`));
  });
  return { lies, seen, end };
}

/** @see https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties */
function shapeProblems({ metadata, status }: KubeObject): string[] {
  const { observedGeneration, conditions } = status as {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { type: string; status: string; reason: string; observedGeneration?: number }[];
  };
  if (conditions === undefined) return ['its status has no conditions'];
  const types = conditions.map(({ type }) => type);
  return [
    ...(observedGeneration === undefined ? ['its status observes no generation'] : []),
    ...((observedGeneration ?? 0) > (metadata.generation ?? 0) ? ['it observes what is not there yet'] : []),
    ...(types.includes('Ready') ? [] : ['it does not say whether it is Ready']),
    ...types.filter((type, index) => types.indexOf(type) !== index).map((type) => `it says ${type} twice`),
    ...conditions
      .filter(({ type, status: value }) => ['Reconciling', 'Stalled'].includes(type) && value !== 'True')
      .map(({ type }) => `it keeps ${type} though it is not True`),
    ...conditions
      .filter(({ reason }) => !/^[A-Z][A-Za-z0-9]*$/.test(reason))
      .map(({ reason }) => `${reason} is no reason`),
  ];
}

function unrolled(double: KubernetesDouble, { kind, metadata, spec }: KubeObject): string[] {
  const program = programs[kind];
  const { image, replicas = 1, hibernated = false, paused = false } = spec as Spec;
  if (program === undefined || paused) return [];
  const workload = `${metadata.name}-${program}`;
  const pods = podsOf(double, workload, metadata.namespace);
  const wanted = hibernated ? 0 : replicas;
  if (pods.length !== wanted) return [`${pods.length} of ${wanted} pods are there`];
  const set = double.get('statefulsets.apps', metadata.namespace, workload);
  const template = (set?.['spec'] as { template: { metadata: { annotations: Record<string, string> } } } | undefined)
    ?.template.metadata.annotations['coffer.dev/inputs'];
  return pods.flatMap((pod) => [
    ...(inputsOf(pod) === template ? [] : [`${pod.metadata.name} runs with other inputs`]),
    ...(image === undefined || imageOf(pod) === image ? [] : [`${pod.metadata.name} runs ${imageOf(pod)}`]),
  ]);
}
