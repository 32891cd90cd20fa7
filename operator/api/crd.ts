import { z } from 'zod';
import type { Json } from '../workload.ts';
import type { Kind } from './kinds.ts';
import { apiGroup } from './object.ts';
import { celValidations } from './rule.ts';

const text = (maxLength: number): Json => ({ type: 'string', maxLength });

// A label, since the name becomes part of service names and of setting names; the API server itself would allow dots.
const metadataName = (maxLength: number): Json => ({
  type: 'string',
  maxLength,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
});

const conditionSchema: Json = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: text(316),
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: text(1024),
    message: text(32768),
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    lastTransitionTime: { type: 'string', format: 'date-time' },
  },
};

const statusSchema: Json = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    conditions: {
      type: 'array',
      maxItems: 32,
      items: conditionSchema,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    servers: text(32),
    health: text(128),
    version: text(128),
    issuer: text(2048),
    bucketName: text(63),
    policyName: text(128),
    accessKey: text(128),
    credentialsSecret: text(253),
    attached: {
      type: 'array',
      maxItems: 4096,
      items: {
        type: 'object',
        required: ['to', 'policies'],
        properties: { to: text(1024), policies: { type: 'array', maxItems: 64, items: text(128) } },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['to'],
    },
    keyService: {
      type: 'object',
      description: 'The key service whose keys sealed the data of a Tenant.',
      required: ['name', 'keyPrefix'],
      properties: { name: text(63), keyPrefix: text(64), defaultKey: text(128) },
    },
    addresses: { type: 'object', maxProperties: 8, additionalProperties: text(512) },
    rollout: {
      type: 'object',
      required: ['reason', 'updated', 'total'],
      properties: {
        reason: text(4096),
        updated: { type: 'integer', format: 'int32', minimum: 0 },
        total: { type: 'integer', format: 'int32', minimum: 0 },
      },
    },
    certificates: {
      type: 'array',
      maxItems: 16,
      items: {
        type: 'object',
        required: ['name', 'notAfter'],
        properties: { name: text(253), notAfter: { type: 'string', format: 'date-time' } },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
  },
};

/** The CustomResourceDefinition of a kind. */
export function customResourceDefinition<Spec>(kind: Kind<Spec>): Json {
  const spec = structural(z.toJSONSchema(kind.spec, { target: 'openapi-3.0', io: 'input', reused: 'inline' }) as Json);
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
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns.map((column) => ({ ...column })),
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: kind.description,
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object', properties: { name: metadataName(kind.maxNameLength) } },
                spec: { ...(spec as Record<string, Json>), 'x-kubernetes-validations': celValidations(kind.rules) },
                status: statusSchema,
              },
            },
          },
        },
      ],
    },
  };
}

/**
 * A structural schema: `additionalProperties` may not stand beside `properties` (the API server refuses or keeps unknown fields by
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
