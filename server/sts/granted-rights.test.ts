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
    ['more names than any user has', Array.from({ length: 101 }, (_, at) => `policy-${at}`)],
  ])('refuses a claim that is %s', async (_, claim) => {
    await expect(granted({ policy: claim })).rejects.toMatchObject({ code: 'InvalidParameterValue' });
  });

  it.each(['constructor', '__proto__', 'toString'])('does not take %s for a policy or a claim', async (name) => {
    await expect(granted({ policy: name })).rejects.toMatchObject({ code: 'InvalidParameterValue' });
    await expect(granted({}, { claimName: name })).rejects.toMatchObject({ code: 'InvalidParameterValue' });
  });
});
