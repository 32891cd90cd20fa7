import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from './crd.ts';
import { resourceGuide } from './resource-guide.ts';

const folder = new URL('../../crds/', import.meta.url);
const files = [...crdFiles()].map(([name, content]) => ({ name, content }));

describe('crds/', () => {
  it('holds these files and no others', () => {
    expect(readdirSync(folder).sort()).toEqual(files.map(({ name }) => name).sort());
  });
  it.each(files)('$name is up to date (npm run crds)', ({ name, content }) => {
    expect(readFileSync(new URL(name, folder), 'utf8')).toBe(content);
  });
  // `kubectl apply` keeps the resource as JSON in an annotation, and all annotations have at most 256 KiB.
  it.each(files)('$name stays under 96 KiB', ({ content }) => {
    expect(Buffer.byteLength(content)).toBeLessThan(96 * 1024);
  });
  it.each(files)('$name bounds every string, list and map', ({ content }) => {
    expect(unbounded(schemaOf(content), '')).toEqual([]);
  });
  it.each(files)('$name bounds and describes every field of the status', ({ content }) => {
    const status = schemaOf(content, 'status');
    expect(unbounded(status, '')).toEqual([]);
    expect(undescribed(status, 'status')).toEqual([]);
  });
  it.each(files)('$name lets no field of the status through that it does not name', ({ content }) => {
    expect(JSON.stringify(schemaOf(content, 'status'))).not.toContain('preserve-unknown-fields');
  });
  it.each(files)('$name fills in nothing that is of one machine', ({ content }) => {
    expect(content).not.toContain('default: 127.0.0.1');
  });
  it.each(files)('$name says with each rule which field it is about', ({ content }) => {
    const { properties = {}, ...spec } = schemaOf(content);
    for (const { fieldPath, message } of spec['x-kubernetes-validations'] ?? []) {
      const [, first = ''] = fieldPath?.split('.') ?? [];
      expect(Object.keys(properties), message).toContain(first);
    }
  });
  it.each(files)('$name has conditions under a status subresource', ({ content }) => {
    const [version] = parse(content).spec.versions;
    expect(version.subresources.status).toEqual({});
    expect(
      version.schema.openAPIV3Schema.properties.status.properties.conditions['x-kubernetes-list-map-keys'],
    ).toEqual(['type']);
  });
  it('has a scale subresource of what runs in pods', () => {
    const scaled = files.filter(({ content }) => parse(content).spec.versions[0].subresources.scale !== undefined);
    expect(scaled.map(({ name }) => name)).toEqual(['coffer.dev_tenants.yaml', 'coffer.dev_kmsconfigs.yaml']);
  });
  it.each(files)('$name shows Ready and Age', ({ content }) => {
    const columns: { name: string }[] = parse(content).spec.versions[0].additionalPrinterColumns;
    expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(['Ready', 'Age']));
  });
});

describe('docs/guides/resources.md', () => {
  it('is up to date (npm run crds)', () => {
    const path = new URL('../../docs/guides/resources.md', import.meta.url);
    expect(readFileSync(path, 'utf8')).toBe(resourceGuide());
  });
});

interface Schema {
  readonly type?: string;
  readonly enum?: unknown;
  readonly format?: string;
  readonly description?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string; readonly fieldPath?: string }[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

function schemaOf(content: string, part: 'spec' | 'status' = 'spec'): Schema {
  return parse(content).spec.versions[0].schema.openAPIV3Schema.properties[part];
}

function undescribed(schema: Schema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}.${name}`;
    return [...(field.description === undefined ? [here] : []), ...undescribed(field.items ?? field, here)];
  });
}

function unbounded(schema: Schema, path: string): string[] {
  const own =
    (schema.type === 'string' && schema.enum === undefined && schema.maxLength === undefined) ||
    (schema.type === 'array' && schema.maxItems === undefined);
  const children = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    unbounded(child, `${path}.${name}`),
  );
  return [...(own ? [path] : []), ...children, ...(schema.items ? unbounded(schema.items, `${path}[]`) : [])];
}
