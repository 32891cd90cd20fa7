import { z } from 'zod';
import type { KubeObject } from '../kube/kube-api.ts';
import type { Json } from '../workload.ts';
import { driftedAnnotation, inputsAnnotation, templateAnnotation } from './objects/labels.ts';
import { immutableFields, type KeptTemplate } from './objects/stateful-set.ts';

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

export type LiveStatefulSet = z.output<typeof statefulSet>;

/** What the operator reads of a StatefulSet. */
export function statefulSetView(object: KubeObject): LiveStatefulSet {
  return statefulSet.parse(object);
}

/** Parts that the API server lets nobody change. */
export function immutableParts(live: KubeObject): Readonly<Record<string, Json>> {
  const fields = spec.parse(live['spec']);
  return Object.fromEntries(
    immutableFields.flatMap((field) => {
      const value = fields[field];
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** The template as it is, with the annotations that say what it was made from. */
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

/** Keys of Secrets that pods, or a template, mount as files: by the name of the Secret. */
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

/** Whether every pod is known that the StatefulSet made from templates before the live one. */
export function podsAreKnown(live: LiveStatefulSet, pods: number): boolean {
  const { observedGeneration, replicas } = live.status;
  return observedGeneration === live.metadata.generation && pods >= replicas;
}
