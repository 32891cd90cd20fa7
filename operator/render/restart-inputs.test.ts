import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { canonical, specInputs, withoutDefaults } from './restart-inputs.ts';

const old = z.strictObject({ path: z.string().optional() });
const newer = z.strictObject({
  path: z.string().optional(),
  mode: z.enum(['once', 'many']).default('once'),
  cache: z.strictObject({ size: z.int().default(1) }).prefault({}),
  rows: z.array(z.strictObject({ name: z.string(), kind: z.string().default('a') })).optional(),
});

const inputsBy = (schema: z.ZodObject) => {
  const spec = schema.parse({ where: { path: '/srv' } });
  const of = { kind: 'Tenant', name: 'demo' } as const;
  return specInputs(schema, spec, of, () => 'TenantChanged', { fingerprint: (value) => value });
};

describe('the inputs of a spec', () => {
  it('are the same for a schema that knows more fields, at every level', () => {
    expect(inputsBy(z.strictObject({ where: newer, more: newer.prefault({}) }))).toEqual(
      inputsBy(z.strictObject({ where: old })),
    );
  });
});

describe('the value of a field without its defaults', () => {
  it('is the same for a schema that knows more fields', () => {
    const written = { path: '/srv' };
    expect(canonical(withoutDefaults(newer, newer.parse(written)))).toBe(
      canonical(withoutDefaults(old, old.parse(written))),
    );
  });
  it('keeps what is not at its default, at every level', () => {
    const written = { mode: 'many', cache: { size: 2 }, rows: [{ name: 'x' }, { name: 'y', kind: 'b' }] };
    expect(withoutDefaults(newer, newer.parse(written))).toEqual(written);
  });
  it('tells an empty object that chooses something from none', () => {
    const choice = z.strictObject({ one: z.strictObject({}).optional(), two: z.strictObject({}).optional() });
    expect(withoutDefaults(choice, choice.parse({ one: {} }))).toEqual({ one: {} });
  });
});
