import { describe, expect, it } from 'vitest';
import { builtInPolicies } from '../../protocol/policy/built-in-policies.ts';
import { type AttachmentTarget, claimFits } from '../auth/identities/subject.ts';
import { grantedRights } from './granted-rights.ts';

const attached: AttachmentTarget[] = [
  { kind: 'claim', provider: 'P', claim: 'sub', value: 'system:serviceaccount:apps:*' },
  { kind: 'claim', provider: 'P', claim: 'kubernetes.io/namespace', value: 'batch' },
];
const source = {
  policy(name: string) {
    const document = builtInPolicies.get(name);
    return Promise.resolve(document && { name, document, json: '' });
  },
  claimTargets: (_provider: string, claims: Readonly<Record<string, unknown>>) =>
    Promise.resolve(attached.filter((target) => target.kind === 'claim' && claimFits(target, claims))),
};
const byClaim = { id: 'P', claimName: 'policy', rolePolicy: [] as string[] };

const rights = (claims: Record<string, unknown>, provider: Partial<typeof byClaim> = {}) =>
  grantedRights(claims, { ...byClaim, ...provider }, source);
const granted = async (...given: Parameters<typeof rights>) => (await rights(...given)).policies;

const many = (count: number, prefix = 'group') => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);

describe('grantedRights', () => {
  it.each([
    ['a text', 'readonly', ['readonly']],
    ['a comma list', 'readonly, writeonly,', ['readonly', 'writeonly']],
    ['a list', ['readonly', 'writeonly'], ['readonly', 'writeonly']],
    ['a list of comma lists', ['readonly,writeonly', 'readonly'], ['readonly', 'writeonly']],
    ['names that do not exist beside one that does', ['gone', 'readonly'], ['readonly']],
  ])('takes %s', async (_, claim, expected) => {
    expect(await granted({ policy: claim })).toEqual(expected);
  });

  it('tells which names are nowhere defined, beside those that count', async () => {
    expect(await rights({ policy: 'gone,readonly' })).toMatchObject({ policies: ['readonly'], notDefined: ['gone'] });
    expect(await rights({}, { rolePolicy: ['lost', 'readonly'] })).toMatchObject({ notDefined: ['lost'] });
  });

  it('looks at the claim that the provider names', async () => {
    expect(await granted({ policy: 'readwrite', access: 'readonly' }, { claimName: 'access' })).toEqual(['readonly']);
  });

  it('gives the role policy whatever the claims say', async () => {
    expect(await granted({ policy: 'consoleAdmin' }, { rolePolicy: ['readonly'] })).toEqual(['readonly']);
  });

  it('says which claim it looked for and which came, without their values', async () => {
    const error = (await granted({ sub: 'secret-subject', email: 'e@example.org' }).catch((e: unknown) => e)) as Error;
    expect(error).toMatchObject({ code: 'InvalidParameterValue' });
    expect(error.message).toMatch(/claim "policy" is missing.*these claims: email, sub; no policy is attached/);
    expect(error.message).not.toMatch(/secret-subject|example\.org/);
  });

  it('finds the claim within others by a path', async () => {
    expect(await granted({ realm: { roles: ['readonly'] } }, { claimName: 'realm/roles' })).toEqual(['readonly']);
  });

  it.each([
    ['without the claim', { sub: 'system:serviceaccount:apps:backup' }, 0],
    ['by a claim within others', { 'kubernetes.io': { namespace: 'batch' } }, 1],
    ['beside policies that do not exist', { sub: 'system:serviceaccount:apps:backup', policy: 'gone' }, 0],
  ])('takes what is attached to claims %s', async (_, claims, at) => {
    expect(await rights(claims)).toMatchObject({ policies: [], targets: [attached[at]] });
  });

  it('does not look at what is attached where the provider has a role', async () => {
    const claims = { sub: 'system:serviceaccount:apps:backup' };
    expect((await rights(claims, { rolePolicy: ['readonly'] })).targets).toEqual([]);
  });

  it('says which policies are not defined', async () => {
    await expect(granted({ policy: ['gone', 'lost'] })).rejects.toMatchObject({
      code: 'InvalidParameterValue',
      message: expect.stringMatching(/None of the given policies \(`gone`, `lost`\) are defined/) as string,
    });
  });

  it.each([
    ['no text', 7],
    ['an object', { readonly: true }],
    ['a list with a number', ['readonly', 1]],
    ['nothing', []],
    ['commas alone', ',,'],
    ['more names than any user has', Array.from({ length: 10_001 }, (_, at) => `policy-${at}`)],
  ])('refuses a claim that is %s', async (_, claim) => {
    await expect(granted({ policy: claim })).rejects.toMatchObject({ code: 'InvalidParameterValue' });
  });

  it('counts the policies that exist, whatever else the claim names', async () => {
    expect(await granted({ policy: [...many(2_000), 'readonly'] })).toEqual(['readonly']);
  });

  it('takes 1,000 policies, and names the limit', async () => {
    const all = {
      ...source,
      policy: (name: string) => Promise.resolve({ name, document: { statements: [] }, json: '' }),
    };
    const named = (count: number) => grantedRights({ policy: many(count, 'policy') }, byClaim, all as never);
    expect((await named(1_000)).policies).toHaveLength(1_000);
    await expect(named(1_001)).rejects.toThrow('names 1001 policies that exist; at most 1000 are taken');
  });

  it('lists some of many names that do not exist', async () => {
    await expect(granted({ policy: many(300) })).rejects.toThrow(/`group-19`, and 280 more\) are defined/);
  });

  it('names the overage of Entra, and its cure', async () => {
    const claims = {
      sub: 's',
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph' } },
    };
    await expect(granted(claims, { claimName: 'groups' })).rejects.toThrow(
      /"groups" is missing from the token, since the user has too many \(_claim_names; Entra calls it an overage\).*assigned to the application/,
    );
  });

  it('names the full path of groups of Keycloak, and its cure', async () => {
    await expect(granted({ groups: ['/readwrite'] }, { claimName: 'groups' })).rejects.toThrow(
      /`\/readwrite`.*turn "Full group path" off/,
    );
  });

  it.each(['constructor', '__proto__', 'toString'])('does not take %s for a policy or a claim', async (name) => {
    await expect(granted({ policy: name })).rejects.toMatchObject({ code: 'InvalidParameterValue' });
    await expect(granted({}, { claimName: name })).rejects.toMatchObject({ code: 'InvalidParameterValue' });
  });
});
