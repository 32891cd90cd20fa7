import { describe, expect, it } from 'vitest';
import { bucketKind, identityProviderKind, kmsConfigKind, tenantKind } from './kinds.ts';
import type { CofferObject } from './object.ts';
import { manifestOf, ruleCases, type Spec } from '../../test/support/operator/rules/rule-cases.ts';
import { validate, type ValidateOptions } from './validate.ts';

function problems(manifest: unknown, previous?: CofferObject, options?: ValidateOptions): string {
  const result = validate(manifest, previous, options);
  return result.kind === 'invalid'
    ? result.problems.map(({ field, message }) => `${field}: ${message}`).join('; ')
    : '';
}

function object(kind: string, spec: Spec): CofferObject {
  const result = validate(manifestOf(kind, 'a', spec));
  if (result.kind !== 'object') throw new Error(problems(manifestOf(kind, 'a', spec)));
  return result.object;
}

describe.each(ruleCases)('$kind', ({ kind, good, bad, badAtApiServer = [], badChanges }) => {
  it.each(good)('takes $title', ({ spec }) => {
    expect(problems(manifestOf(kind, 'a', spec))).toBe('');
  });
  it.each(bad)('refuses $title', ({ spec, message }) => {
    expect(problems(manifestOf(kind, 'a', spec))).toContain(message);
  });
  it.each(badAtApiServer)('refuses as the API server does, and takes on one machine: $title', ({ spec, message }) => {
    const manifest = manifestOf(kind, 'a', spec);
    expect(problems(manifest)).toBe('');
    expect(problems(manifest, undefined, { asApiServer: true })).toContain(message);
  });
  it.each(good)('takes as the API server does $title', ({ spec }) => {
    expect(problems(manifestOf(kind, 'a', spec), undefined, { asApiServer: true })).toBe('');
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
  it.each(
    [tenantKind, identityProviderKind, kmsConfigKind, bucketKind].map(({ kind, rules }) => ({
      kind,
      messages: [...rules.always, ...rules.onChange].map(({ message }) => message),
    })),
  )('break every rule of $kind', ({ kind, messages: rules }) => {
    const cases = ruleCases.find((candidate) => candidate.kind === kind);
    const messages = [...(cases?.bad ?? []), ...(cases?.badAtApiServer ?? []), ...(cases?.badChanges ?? [])].map(
      ({ message }) => message,
    );
    expect(rules.filter((rule) => !messages.some((message) => rule.includes(message)))).toEqual([]);
  });
});

const ofSize = (size: string) => ({ storage: { size } });

describe('the size of a volume', () => {
  it.each([
    ['1Gi', '1Gi'],
    ['1G', '1Gi'],
    ['1024Mi', '1Gi'],
    ['1.5Ti', '1536Gi'],
    ['1000', '1k'],
  ])('takes %s grown to %s', (from, to) => {
    expect(problems(manifestOf('Tenant', 'a', ofSize(to)), object('Tenant', ofSize(from)))).toBe('');
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
  it('refuses a name that leaves no room for the names made from it', () => {
    expect(problems(manifestOf('Tenant', 'a'.repeat(40), {}))).toBe('');
    expect(problems(manifestOf('Tenant', 'a'.repeat(41), {}))).toContain('metadata.name');
  });
  it('takes what Kubernetes checks itself as it is written', () => {
    const tolerations = [{ key: 'a', someday: { new: ['field'] } }];
    expect(object('Tenant', { tolerations })).toMatchObject({ spec: { tolerations } });
  });
  it('refuses more labels than fit', () => {
    const podLabels = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`l${index}`, 'x']));
    expect(problems(manifestOf('Tenant', 'a', { podLabels }))).toBe('spec.podLabels: at most 64 entries');
  });
  it.each([
    ['Tenant', { identityProviders: [{ name: 'x' }, { name: 'y' }, { name: 'x' }] }, 'spec.identityProviders: "x"'],
    ['Tenant', { settings: ['a', 'b'].map((value) => ({ name: 'SVC_REGION', value })) }, 'spec.settings: "SVC_REGION"'],
    ['KMSConfig', { keystore: { files: {} }, defaultKey: 'd', keys: [{ name: 'k' }, { name: 'k' }] }, 'spec.keys: "k"'],
  ])('refuses a list of a %s that names an item twice: %j', (kind, spec, message) => {
    expect(problems(manifestOf(kind, 'a', spec))).toContain(`${message} is there twice; name it once`);
  });
  it('refuses a port out of range', () => {
    expect(problems(manifestOf('Tenant', 'a', { addresses: { s3: { port: 70000 } } }))).toContain(
      'spec.addresses.s3.port',
    );
  });
  it('names the kinds it knows when it does not know one', () => {
    expect(problems({ apiVersion: 'v1', kind: 'Pod' })).toContain('Tenant, IdentityProvider, KMSConfig, Bucket');
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
  it('has keys of any name', () => {
    const manifest = JSON.parse('{"data":{"__proto__":"eA=="},"stringData":{"constructor":"y"}}') as object;
    const result = validate(secret(manifest));
    expect(result.kind === 'secret' && Object.entries(result.secret.data)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
  it('is refused without repeating its value', () => {
    const message = problems(secret({ data: { a: 'not base64, hunter2' } }));
    expect(message).toContain('data.a');
    expect(message).not.toContain('hunter2');
  });
});

describe('a ConfigMap', () => {
  it('is read from its data', () => {
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'trust.bundle' },
      data: { 'ca.crt': 'x' },
    };
    expect(validate(configMap)).toEqual({
      kind: 'config-map',
      configMap: { name: 'trust.bundle', data: { 'ca.crt': 'x' } },
    });
  });
});
