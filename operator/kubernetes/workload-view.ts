import { z } from 'zod';
import type { KubeObject } from '../kube/kube-api.ts';
import type { Instance, ResizingVolume, RunningWorkload } from '../runtime.ts';
import { imageInput } from '../render/restart-inputs.ts';
import type { ResourceReference, RestartInput } from '../workload.ts';
import { ownerOf } from './watching.ts';
import { instanceOf, workloadState } from './instance-state.ts';
import { statefulSetView } from './live-workload.ts';
import { readInputs } from './objects/inputs-annotation.ts';
import { driftedAnnotation, inputsAnnotation, podSelector } from './objects/labels.ts';
import { serviceAddress } from './workload-files.ts';

const service = z.object({
  spec: z.object({ ports: z.array(z.object({ name: z.string().default(''), port: z.number() })).default([]) }),
});

export interface LiveParts {
  readonly statefulSet: KubeObject;
  readonly pods: readonly KubeObject[];
  /** The Service of the workload's own name. */
  readonly service: KubeObject | undefined;
  /** Uids of pods that were deleted, which a cache may not know of yet. */
  readonly replaced: ReadonlySet<string>;
  readonly refused: RunningWorkload['refused'];
  readonly resizing: readonly ResizingVolume[];
  /** Why pods that are missing were not made, by name. */
  readonly refusedPods: ReadonlyMap<string, string>;
  /** Keyed digest. */
  readonly fingerprint: (value: string) => string;
}

/** A workload as the caches have it. */
export function workloadView(live: LiveParts, now: Date): RunningWorkload {
  const { metadata } = live.statefulSet;
  const { spec } = statefulSetView(live.statefulSet);
  const owner = ownerOf(live.statefulSet);
  const withImageOf = (recorded: readonly RestartInput[], image: string | undefined) =>
    withImage(recorded, owner, image, live);
  const recorded = readInputs(spec.template.metadata.annotations[inputsAnnotation]) ?? [];
  const inputs = withImageOf(recorded, imageOf(spec.template.spec));
  const present = new Set(live.pods.map((pod) => pod.metadata.name));
  const refused = [...live.refusedPods]
    .filter(([name]) => !present.has(name))
    .map(([name, message]): Instance => ({
      name,
      inputs,
      state: { kind: 'broken', restarts: 0, message, refused: true },
    }));
  const drifted = new Set(metadata.annotations?.[driftedAnnotation]?.split(','));
  const instances = live.pods
    .map((pod): Instance => {
      const instance = instanceOf(pod, live.replaced, now, drifted);
      return { ...instance, inputs: withImageOf(instance.inputs, imageOf(pod['spec'])) };
    })
    .concat(refused)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    name: metadata.name,
    inputs,
    state: workloadState(instances, spec.replicas),
    instances,
    wanted: spec.replicas,
    selector: selectorOf(metadata.name),
    ...(live.refused === undefined ? {} : { refused: live.refused }),
    resizing: live.resizing,
    addresses: addressesOf(metadata.name, metadata.namespace ?? '', live.service),
  };
}

function selectorOf(workload: string): string {
  return Object.entries(podSelector(workload))
    .map(([label, value]) => `${label}=${value}`)
    .join();
}

/** What was started when a default image was no input yet: the image that it runs tells what was recorded. */
function withImage(
  recorded: readonly RestartInput[],
  owner: ResourceReference | undefined,
  image: string | undefined,
  { fingerprint }: Pick<LiveParts, 'fingerprint'>,
): readonly RestartInput[] {
  const isRecorded = recorded.some(({ field, of }) => field === 'spec.image' && of.kind === owner?.kind);
  if (recorded.length === 0 || owner === undefined || isRecorded) return recorded;
  return [...imageInput(owner, image, { fingerprint }), ...recorded];
}

const podSpec = z.object({ containers: z.array(z.object({ image: z.string().optional() })).default([]) });

function imageOf(spec: unknown): string | undefined {
  return podSpec.safeParse(spec).data?.containers[0]?.image;
}

/** Numbers of a Service's ports by name. */
export function portsOf(object: KubeObject | undefined): ReadonlyMap<string, number> {
  if (object === undefined) return new Map();
  return new Map(service.parse(object).spec.ports.map(({ name, port }) => [name, port]));
}

function addressesOf(workload: string, namespace: string, object: KubeObject | undefined) {
  return Object.fromEntries(
    [...portsOf(object)].map(([name, port]) => [name, serviceAddress(workload, namespace, port)]),
  );
}
