import { describe, expect, it } from 'vitest';
import { identityProviderKind, kmsConfigKind, tenantKind } from './kinds.ts';
import type { CofferObject } from './object.ts';
import { manifestOf, ruleCases, type Spec } from './rule-cases.ts';
import { validate } from './validate.ts';

function problems(manifest: unknown, previous?: CofferObject): string {
  const result = validate(manifest, previous);
  return result.kind === 'invalid'
    ? result.problems.map(({ field, message }) => `${field}: ${message}`).join('; ')
    : '';
}

function object(kind: string, spec: Spec): CofferObject {
  const result = validate(manifestOf(kind, 'a', spec));
  if (result.kind !== 'object') throw new Error(problems(manifestOf(kind, 'a', spec)));
  return result.object;
}

describe.each(ruleCases)('$kind', ({ kind, good, bad, badChanges }) => {
  it.each(good)('takes $title', ({ spec }) => {
    expect(problems(manifestOf(kind, 'a', spec))).toBe('');
  });
  it.each(bad)('refuses $title', ({ spec, message }) => {
    expect(problems(manifestOf(kind, 'a', spec))).toContain(message);
  });
  for (const { title, from, to, message } of badChanges) {
    it(`refuses as a change: ${title}`, () => {
      expect(problems(manifestOf(kind, 'a', to), object(kind, from))).toContain(message);
    });
    it(`takes as new: ${title}`, () => {
      expect(problems(manifestOf(kind, 'a', to))).toBe('');
    });
  }
});

describe('the cases of the rules', () => {
  it.each([tenantKind, identityProviderKind, kmsConfigKind])('break every rule of $kind', ({ kind, rules }) => {
    const cases = ruleCases.find((candidate) => candidate.kind === kind);
    const messages = [...(cases?.bad ?? []), ...(cases?.badChanges ?? [])].map(({ message }) => message);
    const untried = [...rules.always, ...rules.onChange].filter(
      (rule) => !messages.some((message) => rule.message.includes(message)),
    );
    expect(untried.map(({ message }) => message)).toEqual([]);
  });
});

describe('strict validation', () => {
  it('names an unknown field with its path', () => {
    expect(problems(manifestOf('Tenant', 'a', { addresses: { s3: { prot: 1 } } }))).toBe(
      'spec.addresses.s3.prot: unknown field',
    );
  });
  it('refuses a name that is no label', () => {
    expect(problems(manifestOf('Tenant', 'A.b', {}))).toContain('metadata.name');
  });
  it('refuses a port out of range', () => {
    expect(problems(manifestOf('Tenant', 'a', { addresses: { s3: { port: 70000 } } }))).toContain(
      'spec.addresses.s3.port',
    );
  });
  it('names the kinds it knows when it does not know one', () => {
    expect(problems({ apiVersion: 'v1', kind: 'ConfigMap' })).toContain('Tenant, IdentityProvider, KMSConfig');
  });
  it('refuses what is no object', () => {
    expect(problems('hello')).toContain('needs apiVersion and kind');
  });
  it('fills in defaults', () => {
    expect(object('Tenant', {})).toMatchObject({
      spec: { replicas: 1, addresses: { s3: { port: 9000 }, console: { port: 9090 } } },
    });
  });
});

const secret = (more: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...more });

describe('a Secret', () => {
  it('is read from data and stringData, which wins', () => {
    const result = validate(secret({ data: { a: 'eA==', b: 'eQ==' }, stringData: { b: 'z' } }));
    expect(result).toEqual({ kind: 'secret', secret: { name: 's', data: { a: 'x', b: 'z' } } });
  });
  it('is refused without repeating its value', () => {
    const message = problems(secret({ data: { a: 'not base64, hunter2' } }));
    expect(message).toContain('data.a');
    expect(message).not.toContain('hunter2');
  });
});
