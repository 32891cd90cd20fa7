import { z } from 'zod';
import type { Json } from '../contract/workload.ts';
import { type Kind, eachKind, namePattern } from './kinds.ts';
import { apiGroup } from './object.ts';
import { celValidations } from './rule.ts';
import { stringify } from 'yaml';

const metadataName = <Spec>(kind: Kind<Spec>): Json => ({
  type: 'string',
  maxLength: kind.maxNameLength,
  pattern: namePattern(kind),
});

/** The fields that `kubectl scale` and a HorizontalPodAutoscaler read and write. */
const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

/** Returns the CustomResourceDefinition of a kind. */
export function customResourceDefinition<Spec>(kind: Kind<Spec>): Json {
  const spec = schemaOf(kind.spec);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        shortNames: kind.shortNames,
        categories: ['coffer'],
      },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {}, ...(kind.scales && { scale }) },
          additionalPrinterColumns: kind.columns.map((column) => ({ ...column })),
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: kind.description,
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object', properties: { name: metadataName(kind) } },
                spec: { ...spec, 'x-kubernetes-validations': celValidations(kind.rules) },
                status: schemaOf(kind.status),
              },
            },
          },
        },
      ],
    },
  };
}

function schemaOf(type: z.ZodType): Readonly<Record<string, Json>> {
  const schema = z.toJSONSchema(type, { target: 'openapi-3.0', io: 'input', reused: 'inline' });
  return structural(schema as Json) as Readonly<Record<string, Json>>;
}

/**
 * A structural schema: `additionalProperties` is not allowed together with `properties` (the API server refuses or keeps unknown fields by
 * its own rules).
 */
function structural(node: Json): Json {
  if (Array.isArray(node)) return node.map((item: Json) => structural(item));
  if (node === null || typeof node !== 'object') return node;
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(node as Record<string, Json>)) {
    if (key === 'additionalProperties' && 'properties' in node) continue;
    if (key === 'properties' && Object.keys(value as object).length === 0) continue;
    if (value === undefined) continue;
    result[key] = structural(value);
  }
  return result;
}

/** Returns every file of `crds/`, by its name. */
export function crdFiles(): ReadonlyMap<string, string> {
  const head = '# Made by `npm run crds` from operator/api. Do not edit.\n';
  return new Map(
    eachKind((kind) => [
      `${apiGroup}_${kind.plural}.yaml`,
      head + stringify(customResourceDefinition(kind), { lineWidth: 0 }),
    ]),
  );
}
