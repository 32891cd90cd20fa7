import { describe, expect, it } from 'vitest';
import { clientClash, openIdContradictions } from './openid-contradictions.ts';
import { providerFromKeys } from './openid-settings.ts';

const base = { config_url: 'https://idp/realms/r/.well-known/openid-configuration', client_id: 'coffer' };

function contradictions(keys: Record<string, string>): string[] {
  const { provider } = providerFromKeys('A', new Map(Object.entries({ ...base, ...keys })));
  if (provider === undefined) throw new Error('no provider');
  return openIdContradictions(provider, (key) => key);
}

describe('openIdContradictions', () => {
  it.each<Record<string, string>>([
    { client_secret: 's' },
    { vendor: 'keycloak', keycloak_admin_url: 'https://idp/admin', keycloak_realm: 'r', client_secret: 's' },
    { vendor: 'kubernetes', issuer: 'https://cluster', jwks_uri: 'https://cluster/keys' },
    { role_policy: 'readonly', claim_name: 'policy' },
    { redirect_uri: 'https://console/oauth_callback' },
  ])('accepts %j', (keys) => {
    expect(contradictions(keys)).toEqual([]);
  });

  it.each([
    [{ vendor: 'keycloak', client_secret: 's' }, 'vendor keycloak needs idp_admin_url'],
    [{ vendor: 'keycloak', keycloak_admin_url: 'https://idp/admin' }, 'vendor keycloak needs client_secret'],
    [{ keycloak_admin_url: 'https://idp/admin' }, 'idp_admin_url has no effect without vendor keycloak'],
    [{ keycloak_realm: 'r' }, 'idp_realm has no effect without vendor keycloak'],
    [{ jwks_uri: 'https://cluster/keys' }, 'jwks_uri has no effect without vendor kubernetes'],
    [{ role_policy: 'readonly', claim_name: 'groups' }, 'claim_name and role_policy exclude each other'],
    [{ redirect_uri: 'https://console/other' }, 'redirect_uri is "https://console/other"'],
  ])('refuses %j', (keys, message) => {
    expect(contradictions(keys)).toEqual([expect.stringContaining(message)]);
  });
});

describe('clientClash', () => {
  it('names the provider that has the client already', () => {
    const [a, b] = ['A', 'B'].map((name) => providerFromKeys(name, new Map(Object.entries(base))).provider);
    if (a === undefined || b === undefined) throw new Error('no provider');
    expect(clientClash(b, [a], 'client_id')).toContain('client_id is "coffer", which the configuration A has already');
    expect(clientClash(a, [a], 'client_id')).toBeUndefined();
  });
});
