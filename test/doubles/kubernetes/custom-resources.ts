import { customResourceDefinition } from '../../../operator/api/crd.ts';
import { eachKind } from '../../../operator/api/each-kind.ts';
import type { Cause } from './api-error.ts';
import { isObject, type ApiObject, type JsonObject } from './api-object.ts';

interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly minimum?: number;
  readonly default?: unknown;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const schemas: ReadonlyMap<string, Schema> = new Map(
  eachKind((kind) => {
    const definition = customResourceDefinition(kind) as unknown as {
      spec: { versions: [{ schema: { openAPIV3Schema: Schema } }] };
    };
    return [`${kind.plural}.coffer.dev`, definition.spec.versions[0].schema.openAPIV3Schema] as const;
  }),
);

/** Fills the defaults of the CRD in, in place. */
export function fillCustomDefaults(resource: string, object: ApiObject): void {
  const schema = schemas.get(resource)?.properties?.['spec'];
  if (schema !== undefined) fill(schema, object['spec']);
}

/** What of the status breaks the CRD. The real server would drop fields that it does not know, or refuse them. */
export function brokenStatus(resource: string, object: ApiObject): Cause[] {
  const schema = schemas.get(resource)?.properties?.['status'];
  return schema === undefined || object['status'] === undefined ? [] : broken(schema, object['status'], 'status');
}

function fill(schema: Schema, value: unknown): void {
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const item of value) fill(schema.items, item);
  }
  if (!isObject(value)) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (value[name] === undefined && property.default !== undefined) value[name] = structuredClone(property.default);
    fill(property, value[name]);
  }
  if (isObject(schema.additionalProperties)) {
    for (const item of Object.values(value)) fill(schema.additionalProperties, item);
  }
}

function broken(schema: Schema, value: unknown, field: string): Cause[] {
  if (schema.type !== undefined && !isOfType(schema.type, value)) {
    return [{ field, message: `must be of type ${schema.type}: ${JSON.stringify(value)}` }];
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return [{ field, message: `Unsupported value: ${JSON.stringify(value)}` }];
  }
  if (typeof value === 'string' && value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) {
    return [{ field, message: `Too long: may not be more than ${schema.maxLength} bytes` }];
  }
  if (typeof value === 'number' && value < (schema.minimum ?? Number.NEGATIVE_INFINITY)) {
    return [{ field, message: `should be greater than or equal to ${schema.minimum}` }];
  }
  if (Array.isArray(value)) {
    if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) return [{ field, message: 'Too many items' }];
    return value.flatMap((item, index) => broken(schema.items ?? {}, item, `${field}[${index}]`));
  }
  return isObject(value) ? brokenObject(schema, value, field) : [];
}

function brokenObject(schema: Schema, value: JsonObject, field: string): Cause[] {
  const missing = (schema.required ?? []).filter((name) => value[name] === undefined);
  const isTooMany = Object.keys(value).length > (schema.maxProperties ?? Number.POSITIVE_INFINITY);
  return [
    ...(isTooMany ? [{ field, message: `must have at most ${schema.maxProperties} items` }] : []),
    ...missing.map((name) => ({ field: `${field}.${name}`, message: 'Required value' })),
    ...Object.entries(value).flatMap(([name, item]) => {
      const property = schema.properties?.[name];
      if (property !== undefined) return broken(property, item, `${field}.${name}`);
      if (isObject(schema.additionalProperties)) return broken(schema.additionalProperties, item, `${field}.${name}`);
      if (schema['x-kubernetes-preserve-unknown-fields'] === true) return [];
      return [{ field: `${field}.${name}`, message: 'field not declared in schema' }];
    }),
  ];
}

function isOfType(type: NonNullable<Schema['type']>, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
  }
}
