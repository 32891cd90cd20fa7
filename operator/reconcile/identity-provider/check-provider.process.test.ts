import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { discover } from '../../../platform/openid/discovery.ts';
import { createKeycloakAdmin } from '../../../platform/openid/keycloak-admin.ts';
import { probeClient, probeRedirect } from '../../../platform/openid/probe.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../../test/support/openid/openid-provider.ts';
import type { IdentityProvider } from '../../api/object.ts';
import { checkProvider } from './check-provider.ts';

let provider: OpenIdProviderDouble;
beforeAll(async () => {
  provider = await startOpenIdProvider({ clients: [{ id: 'coffer', redirectUris: ['https://c/oauth_callback'] }] });
});
afterEach(() => provider.heal());
afterAll(() => provider.close());

const check = (spec: object, secret = 'coffer-secret') =>
  checkProvider(
    { spec: { configUrl: provider.configUrl, clientId: 'coffer', ...spec } } as unknown as IdentityProvider,
    secret,
    { discover, probeClient, probeRedirect, createKeycloakAdmin },
  );

describe('the check of a provider', () => {
  it('is good where each step is', async () => {
    const keycloak = { vendor: 'keycloak', adminUrl: provider.adminUrl, realm: 'demo' };
    expect(await check({ redirectUri: 'https://c/oauth_callback', ...keycloak })).toMatchObject({ kind: 'good' });
  });

  it.each([
    ['the redirect address is not registered', { redirectUri: 'https://other/oauth_callback' }, 'RedirectRefused'],
    ['there is no admin interface', { vendor: 'keycloak', adminUrl: 'ISSUER/nowhere', realm: 'demo' }, 'AdminRefused'],
    [
      'the admin interface has no such realm',
      { vendor: 'keycloak', adminUrl: 'ADMIN', realm: 'other' },
      'AdminRefused',
    ],
  ])('is not where %s', async (_, spec, reason) => {
    const text = JSON.stringify(spec).replace('ISSUER', provider.issuer).replace('ADMIN', provider.adminUrl);
    expect(await check(JSON.parse(text) as object)).toMatchObject({ kind: 'broken', reason });
  });

  it('is not where a sign-in would ask for a scope that the client does not have', async () => {
    const scopes = ['openid', 'email', 'preferred_username'];
    const refused = { kind: 'broken', reason: 'ScopeRefused' };
    expect(await check({ scopes, redirectUri: 'https://c/oauth_callback' })).toMatchObject(refused);
    const keycloak = { vendor: 'keycloak', adminUrl: provider.adminUrl, realm: 'demo' };
    expect(await check({ scopes, ...keycloak })).toMatchObject(refused);
    expect(await check({ scopes })).toMatchObject({
      kind: 'good',
      warnings: [expect.stringContaining('does not list preferred_username') as string],
    });
  });

  it('is not where no key can verify a token', async () => {
    provider.realm.discovery = { jwks_uri: `${provider.issuer}/nowhere` };
    expect(await check({})).toMatchObject({ kind: 'broken', reason: 'KeysUnreachable' });
  });

  it('is not where the secret is wrong', async () => {
    expect(await check({}, 'wrong')).toMatchObject({ kind: 'broken', reason: 'ClientRefused' });
  });
});
