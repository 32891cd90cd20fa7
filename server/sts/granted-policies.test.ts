import { describe, expect, it } from 'vitest';
import { builtInPolicies } from '../../protocol/policy/built-in-policies.ts';
import { fixedPolicies } from '../access/policy-source.ts';
import { grantedPolicies } from './granted-policies.ts';

const policies = fixedPolicies(builtInPolicies);
const byClaim = { id: 'P', claimName: 'policy', rolePolicy: [] as string[] };

const granted = (claims: Record<string, unknown>, provider: Partial<typeof byClaim> = {}) =>
  grantedPolicies(claims, { ...byClaim, ...provider }, policies);

describe('grantedPolicies', () => {
  it.each([
    ['a text', 'readonly', ['readonly']],
    ['a comma list', 'readonly, writeonly,', ['readonly', 'writeonly']],
    ['a list', ['readonly', 'writeonly'], ['readonly', 'writeonly']],
    ['a list of comma lists', ['readonly,writeonly', 'readonly'], ['readonly', 'writeonly']],
    ['names that do not exist beside one that does', ['gone', 'readonly'], ['readonly']],
  ])('takes %s', async (_, claim, expected) => {
    expect(await granted({ policy: claim })).toEqual(expected);
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
    expect(error.message).toMatch(/claim "policy" is missing.*these claims: email, sub\./);
    expect(error.message).not.toMatch(/secret-subject|example\.org/);
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
