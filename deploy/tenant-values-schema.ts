import { customResourceDefinition } from '../operator/api/crd.ts';
import { type Kind, namePattern } from '../operator/api/kinds.ts';
import { cofferKinds } from './render-chart.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/**
 * `values.schema.json` of the chart coffer-tenant. Each `spec` in it is that of the CRD, so that Helm refuses by name what the API
 * server would refuse or drop. What the chart itself fills in is not required.
 */
export function tenantValuesSchema(): JsonObject {
  const specs = new Map(cofferKinds.map((kind) => [kind.kind as string, specOf(kind)]));
  const spec = (kind: string, filledIn: readonly string[] = []) => orNull(without(specs.get(kind), filledIn));
  const byName = (kind: string, filledIn: readonly string[] = []): JsonObject => ({
    type: ['object', 'null'],
    propertyNames: { pattern: namePattern(kindOf(kind)), maxLength: longest(kind) },
    additionalProperties: spec(kind, filledIn),
  });
  const strings: JsonObject = orNull({ type: 'object', additionalProperties: orNull({ type: 'string' }) });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Made by `npm run manifests` from operator/api. Do not edit.',
    title: 'Values of coffer-tenant',
    ...closed({
      global: { type: ['object', 'null'] },
      enabled: { type: 'boolean' },
      labels: strings,
      tenant: section({
        name: nameOf('Tenant'),
        labels: strings,
        annotations: strings,
        keep: { type: ['boolean', 'null'] },
        spec: spec('Tenant'),
      }),
      identityProviders: byName('IdentityProvider'),
      kms: section({
        enabled: { type: ['boolean', 'null'] },
        name: nameOf('KMSConfig'),
        labels: strings,
        annotations: strings,
        keyPrefix: { type: ['string', 'null'], pattern: '^[A-Za-z0-9_-]*$', maxLength: 64 },
        spec: spec('KMSConfig', ['defaultKey']),
      }),
      buckets: byName('Bucket', ['tenantRef']),
      policies: byName('Policy', ['tenantRef']),
      policyBindings: byName('PolicyBinding', ['tenantRef']),
      users: byName('User', ['tenantRef']),
      accessKeys: byName('AccessKey', ['tenantRef']),
    }),
  };
}

/** A section of the values: null is as good as nothing, as Helm has it. */
function section(properties: JsonObject): JsonObject {
  return orNull(closed(properties));
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if (type === undefined) return schema;
  const kinds = [...(Array.isArray(type) ? (type as readonly Json[]) : [type]), 'null'];
  return { ...schema, type: kinds, ...(Array.isArray(values) ? { enum: [...(values as readonly Json[]), null] } : {}) };
}

/** Empty where the chart is to choose one. */
function nameOf(kind: string): JsonObject {
  return { type: ['string', 'null'], pattern: '^([a-z]([-a-z0-9]*[a-z0-9])?)?$', maxLength: longest(kind) };
}

function longest(kind: string): number {
  return kindOf(kind).maxNameLength;
}

function specOf(kind: Kind<unknown>): JsonObject {
  const definition = customResourceDefinition(kind) as unknown as {
    readonly spec: {
      readonly versions: readonly [
        { readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: JsonObject } } } },
      ];
    };
  };
  return jsonSchema(definition.spec.versions[0].schema.openAPIV3Schema.properties.spec) as JsonObject;
}

/**
 * A structural schema of a CRD as JSON Schema: unknown fields are refused, and Kubernetes' extensions are gone. A field that may be absent may be
 * null, by which a chart above this one takes a default away; the templates drop it.
 */
function jsonSchema(node: Json): Json {
  if (Array.isArray(node)) return node.map((item: Json) => jsonSchema(item));
  if (node === null || typeof node !== 'object') return node;
  const { exclusiveMinimum, exclusiveMaximum, ...schema } = node as Record<string, Json>;
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key.startsWith('x-kubernetes-')) continue;
    // Names of fields, which may be called like a keyword.
    result[key] = key === 'properties' ? fields(value as JsonObject, schema['required']) : jsonSchema(value);
  }
  // A number since draft 6; a switch on `minimum` in OpenAPI 3.0.
  if (exclusiveMinimum === true) [result['exclusiveMinimum'], result['minimum']] = [result['minimum'] ?? 0, 0];
  if (exclusiveMaximum === true) result['exclusiveMaximum'] = result['maximum'] ?? 0;
  if (schema['x-kubernetes-int-or-string'] === true) result['type'] = ['integer', 'string'];
  if (result['properties'] !== undefined && result['additionalProperties'] === undefined) {
    if (schema['x-kubernetes-preserve-unknown-fields'] !== true) result['additionalProperties'] = false;
  }
  return result;
}

function fields(properties: JsonObject, required: Json = []): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => {
      const schema = jsonSchema(field);
      const isNeeded = (required as readonly string[]).includes(name);
      return [name, isNeeded || schema === null || typeof schema !== 'object' ? schema : orNull(schema as JsonObject)];
    }),
  );
}

function without(schema: JsonObject | undefined, filledIn: readonly string[]): JsonObject {
  if (schema === undefined) return { type: 'object' };
  const required = ((schema['required'] ?? []) as readonly string[]).filter((name) => !filledIn.includes(name));
  return { ...schema, required };
}

function closed(properties: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: false, properties };
}

function kindOf(kind: string): Kind<unknown> {
  const found = cofferKinds.find((known) => known.kind === kind);
  if (found === undefined) throw new Error(`there is no kind ${kind}`);
  return found;
}
