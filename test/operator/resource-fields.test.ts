import { describe, expect, it } from 'vitest';
import { identityProviderKind, kmsConfigKind, tenantKind } from '../../operator/api/kinds.ts';
import { specSchema } from '../support/operator/random-resources.ts';
import { refusedKeyServices, refusedStarts } from '../support/operator/refused-starts.ts';
import { type FieldRow, keyServiceFields, providerFields, tenantFields } from '../support/operator/resource-fields.ts';

// The table of every field and of what it refers to: what reads it, and what finds a wrong value before a pod is touched. `refused-starts` and
// `accepted-starts` try it on real programs.

type Schema = ReturnType<typeof specSchema>;

function leaves(schema: Schema | undefined, path: string): readonly string[] {
  if (schema?.type === 'array') return leaves(schema.items, `${path}[]`);
  if (schema?.properties === undefined) return [path];
  return Object.entries(schema.properties).flatMap(([name, field]) =>
    leaves(field, path === '' ? name : `${path}.${name}`),
  );
}

/** The first row with the longest beginning of the path counts. */
function rowOf(path: string, rows: readonly FieldRow[]): FieldRow | undefined {
  const fits = (field: string) => field === path || (/[.\]]$/.test(field) && path.startsWith(field));
  return rows
    .flatMap((row) => row.fields.filter(fits).map((field) => ({ row, length: field.length })))
    .toSorted((a, b) => b.length - a.length)[0]?.row;
}

const tables = [
  { kind: 'Tenant', schema: specSchema(tenantKind), rows: tenantFields, titles: refusedStarts },
  { kind: 'KMSConfig', schema: specSchema(kmsConfigKind), rows: keyServiceFields, titles: refusedKeyServices },
  { kind: 'IdentityProvider', schema: specSchema(identityProviderKind), rows: providerFields, titles: [] },
];

describe.each(tables)('the fields of $kind', ({ schema, rows, titles }) => {
  const paths = leaves(schema, '');

  it('are all in the table', () => {
    expect(paths.filter((path) => rowOf(path, rows) === undefined)).toEqual([]);
  });

  it('have no row that is none of them', () => {
    const used = new Set(paths.map((path) => rowOf(path, rows)));
    expect(rows.filter((row) => !used.has(row))).toEqual([]);
  });

  it('that a program reads at its start have values that end it, which the operator refuses', () => {
    const known = titles.map(({ title }) => title);
    const named = rows.flatMap((row) => row.titles ?? []);
    expect(named.filter((title) => !known.includes(title))).toEqual([]);
    expect(known.filter((title) => !named.includes(title))).toEqual([]);
    expect(rows.filter(({ readBy, titles: own = [] }) => (readBy === 'start') !== own.length > 0)).toEqual([]);
  });
});
