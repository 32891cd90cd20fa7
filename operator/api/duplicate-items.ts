import { z } from 'zod';
import type { Broken } from './rule.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

const schemas = new WeakMap<z.ZodType, Schema>();

function schemaOf(type: z.ZodType): Schema {
  const known = schemas.get(type);
  if (known !== undefined) return known;
  const schema = z.toJSONSchema(type, { target: 'openapi-3.0', io: 'input', reused: 'inline' }) as Schema;
  schemas.set(type, schema);
  return schema;
}

/** Returns the lists of a spec that name an item twice. The API server refuses them by `x-kubernetes-list-type`. */
export function duplicateItems(type: z.ZodType, spec: unknown): readonly Broken[] {
  return inField(schemaOf(type), spec, 'spec');
}

function inField(schema: Schema, value: unknown, field: string): readonly Broken[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const inside = items === undefined ? [] : value.flatMap((item, at) => inField(items, item, `${field}.${at}`));
    return [...inList(schema, value, field), ...inside];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
    inField(part, Reflect.get(value, name), `${field}.${name}`),
  );
}

function inList(schema: Schema, value: readonly unknown[], field: string): readonly Broken[] {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys === undefined && schema['x-kubernetes-list-type'] !== 'set') return [];
  const names = value.map((item) =>
    keys === undefined ? String(item) : keys.map((key) => String(Reflect.get(Object(item), key))).join('/'),
  );
  const doubled = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [...doubled].map((name) => ({ field, message: `"${name}" is there twice; name it once` }));
}
