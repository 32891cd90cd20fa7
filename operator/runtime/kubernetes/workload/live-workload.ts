import { z } from 'zod';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Json } from '../../../contract/workload.ts';
import { admittedAnnotation, driftedAnnotation, inputsAnnotation, templateAnnotation } from '../objects/labels.ts';
import { immutableFields, type KeptTemplate } from '../objects/stateful-set.ts';

const json = z.custom<Json>((value) => value !== undefined);
const spec = z.record(z.string(), json);

const probe = z.object({
  httpGet: z.object({ port: z.union([z.string(), z.number()]), scheme: z.string().default('HTTP') }).optional(),
});

const podSpec = z.object({
  containers: z.array(z.object({ image: z.string().optional(), readinessProbe: probe.optional() })).default([]),
  volumes: z
    .array(
      z.object({
        projected: z
          .object({
            sources: z
              .array(
                z.object({
                  secret: z
                    .object({ name: z.string(), items: z.array(z.object({ key: z.string() })).default([]) })
                    .optional(),
                }),
              )
              .default([]),
          })
          .optional(),
      }),
    )
    .default([]),
});

const statefulSet = z.object({
  metadata: z.object({ generation: z.number().optional() }),
  spec: z.object({
    replicas: z.number().default(1),
    volumeClaimTemplates: json.optional(),
    template: z.object({
      metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }).default({ annotations: {} }),
      spec: podSpec,
    }),
  }),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      replicas: z.number().default(0),
      updateRevision: z.string().optional(),
    })
    .default({ replicas: 0 }),
});

type LiveStatefulSet = z.output<typeof statefulSet>;

/** Returns the fields of a StatefulSet that the operator reads. */
export function statefulSetView(object: KubeObject): LiveStatefulSet {
  return statefulSet.parse(object);
}

/** Returns the parts that the API server never changes. */
export function immutableParts(live: KubeObject): Readonly<Record<string, Json>> {
  const fields = spec.parse(live['spec']);
  return Object.fromEntries(
    immutableFields.flatMap((field) => {
      const value = fields[field];
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** Returns the live template, with the annotations that record its inputs. */
export function liveTemplate(live: KubeObject): KeptTemplate {
  const { annotations = {} } = live.metadata;
  return {
    template: spec.parse(live['spec'])['template'] ?? null,
    annotations: Object.fromEntries(
      [inputsAnnotation, templateAnnotation, driftedAnnotation].flatMap((name) => {
        const value = annotations[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
}

/** Returns the paths of the template that the cluster changed when it was sent last. */
export function admittedPaths({ metadata }: KubeObject): readonly string[] {
  return metadata.annotations?.[admittedAnnotation]?.split(',') ?? [];
}

/** Returns the keys of Secrets that pods, or a template, mount as files, by the name of the Secret. */
export function mountedKeys(specs: readonly unknown[]): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = new Map<string, Set<string>>();
  for (const candidate of specs) {
    for (const { projected } of podSpec.parse(candidate).volumes) {
      for (const { secret } of projected?.sources ?? []) {
        if (secret === undefined) continue;
        const of = keys.get(secret.name) ?? new Set<string>();
        for (const { key } of secret.items) of.add(key);
        keys.set(secret.name, of);
      }
    }
  }
  return keys;
}

/** Reports whether the caches have every pod that the StatefulSet made from earlier templates. */
export function podsAreKnown(live: LiveStatefulSet, pods: number): boolean {
  const { observedGeneration, replicas } = live.status;
  return observedGeneration === live.metadata.generation && pods >= replicas;
}

const event = z.object({
  involvedObject: z.object({ name: z.string(), uid: z.string().optional() }),
  message: z.string().default(''),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
  series: z.object({ lastObservedTime: z.string().nullish() }).nullish(),
});

/** `create Pod demo-server-0 in StatefulSet demo-server failed error: …`, `create Claim data-… for Pod demo-server-0 in StatefulSet …`. */
const failure = /\bPod (\S+) in StatefulSet \S+ failed error: (.*)$/s;
const maxMessageLength = 1_000;

interface FailedCreate {
  readonly statefulSet: string;
  readonly uid: string | undefined;
  readonly pod: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** Returns undefined for an event that names no pod. */
export function failedCreateView(object: KubeObject): FailedCreate | undefined {
  const parsed = event.safeParse(object);
  const [, pod, message] = failure.exec(parsed.data?.message ?? '') ?? [];
  if (parsed.data === undefined || pod === undefined || message === undefined) return undefined;
  const { involvedObject, series, lastTimestamp, eventTime } = parsed.data;
  const time = Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? '');
  const { name: statefulSet, uid } = involvedObject;
  return { statefulSet, uid, pod, message: message.slice(0, maxMessageLength), time: Number.isNaN(time) ? 0 : time };
}

/**
 * Returns why pods of a StatefulSet were not made (a quota, Pod Security, a missing priority class), by name: the newest message for each.
 * Events stay for an hour, so an event from before the last change of a pod does not count.
 */
export function rejectedPods(
  statefulSet: KubeObject,
  events: readonly KubeObject[],
  seen: ReadonlyMap<string, number>,
): ReadonlyMap<string, string> {
  const { name, uid } = statefulSet.metadata;
  const { replicas } = statefulSetView(statefulSet).spec;
  const wanted = new Set(Array.from({ length: replicas }, (_, index) => `${name}-${index}`));
  const failures = events
    .flatMap((object) => failedCreateView(object) ?? [])
    .filter((one) => one.statefulSet === name && wanted.has(one.pod))
    .filter((one) => one.uid === undefined || one.uid === uid)
    .filter(({ pod, time }) => time > (seen.get(pod) ?? 0))
    .toSorted((a, b) => a.time - b.time);
  return new Map(failures.map(({ pod, message }) => [pod, message]));
}
