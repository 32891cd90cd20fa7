import { describe, expect, it } from 'vitest';
import { scopesOfSignIn, unlistedScopes, type ClaimSettings } from './sign-in-scopes.ts';

const listed = [
  'openid',
  'profile',
  'email',
  'groups',
  'policy',
  'roles',
  'phone',
  'offline_access',
  'service_account',
];
const asked = (settings: Partial<ClaimSettings>, supported: readonly string[] = listed) =>
  scopesOfSignIn({ scopes: [], claimName: 'policy', rolePolicy: [], ...settings }, supported);

describe('the scopes of a sign-in', () => {
  it('are the configured ones, and openid', () => {
    expect(asked({ scopes: ['email', 'custom'] })).toEqual(['openid', 'email', 'custom']);
  });

  it.each<[string, Partial<ClaimSettings>, readonly string[]]>([
    ['the policies and the name', {}, ['openid', 'policy', 'profile', 'email']],
    ['another claim', { claimName: 'groups' }, ['openid', 'groups', 'profile', 'email']],
    ['a claim of no scope', { claimName: 'coffer_policy' }, ['openid', 'profile', 'email']],
    ['a claim within one', { claimName: 'resource_access/coffer/roles' }, ['openid', 'roles', 'profile', 'email']],
    ['a claim with the name of a property', { claimName: 'constructor' }, ['openid', 'profile', 'email']],
    ['a role', { rolePolicy: ['readonly'] }, ['openid', 'profile', 'email']],
    ['a name of its own', { userReadableClaim: 'phone_number' }, ['openid', 'policy', 'phone']],
  ])('are without them what the claims need: %s', (_, settings, expected) => {
    expect(asked(settings)).toEqual(expected);
  });

  it('are openid alone at a provider that lists none', () => {
    expect(asked({}, [])).toEqual(['openid']);
  });
});

describe('scopes that a provider does not list', () => {
  it('are named, where it lists any', () => {
    expect(unlistedScopes(['openid', 'preferred_username'], listed)).toEqual(['preferred_username']);
    expect(unlistedScopes(['preferred_username'], [])).toEqual([]);
  });
});
