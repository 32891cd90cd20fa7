import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { discover } from './discovery.ts';
import { probeClient, probeRedirect } from './probe.ts';
import { createLimitedFetch } from '../http/limited-fetch.ts';

let provider: OpenIdProviderDouble;
beforeAll(async () => {
  provider = await startOpenIdProvider({
    clients: [
      { id: 'coffer' },
      { id: 'by-form', authMethod: 'client_secret_post' },
      { id: 'odd client:%', secret: 'a+b c/&%ü' },
      { id: 'no-login', standardFlow: false },
    ],
  });
});
afterEach(() => provider.heal());
afterAll(() => provider.close());

async function probe(clientId: string, clientSecret: string) {
  return probeClient(await discover(provider.configUrl), { clientId, clientSecret });
}

describe('probeClient', () => {
  it('accepts a client whose bogus code is refused for the code alone', async () => {
    expect(await probe('coffer', 'coffer-secret')).toEqual({ kind: 'accepted' });
  });

  it('accepts an id and a secret with every kind of character', async () => {
    expect(await probe('odd client:%', 'a+b c/&%ü')).toEqual({ kind: 'accepted' });
  });

  it('sends the secret in the form where the provider takes it only there', async () => {
    provider.realm.discovery = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    expect(await probe('odd client:%', 'a+b c/&%ü')).toEqual({ kind: 'accepted' });
  });

  it('tries the other way once, and begins with it the next time', async () => {
    const metadata = await discover(provider.configUrl);
    const client = { clientId: 'by-form', clientSecret: 'by-form-secret' };
    const asked = async () => {
      const before = provider.requests.length;
      expect(await probeClient(metadata, client)).toEqual({ kind: 'accepted' });
      return provider.requests.length - before;
    };
    expect([await asked(), await asked()]).toEqual([2, 1]);
  });

  it('takes the configured way alone, and names it', async () => {
    const metadata = await discover(provider.configUrl);
    const client = {
      clientId: 'by-form',
      clientSecret: 'by-form-secret',
      clientMethod: 'client_secret_basic',
    } as const;
    await expect(probeClient(metadata, client)).rejects.toThrow(
      'It was not accepted by client_secret_basic (client_auth).',
    );
  });

  it('names the ways of a provider that takes no secret', async () => {
    provider.realm.discovery = { token_endpoint_auth_methods_supported: ['private_key_jwt', 'tls_client_auth'] };
    await expect(probe('coffer', 'coffer-secret')).rejects.toMatchObject({
      code: 'ClientRefused',
      message: expect.stringMatching(
        /takes clients by private_key_jwt, tls_client_auth alone.*client_secret_basic and client_secret_post/,
      ) as string,
    });
  });

  it.each([
    ['a wrong secret', 'coffer', 'wrong'],
    ['an unknown client', 'nobody', 'coffer-secret'],
  ])('refuses %s, naming the client and not the secret', async (_, id, secret) => {
    const error: unknown = await probe(id, secret).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ClientRefused', message: expect.stringContaining(`"${id}"`) as string });
    expect(String(error)).not.toContain(secret);
  });

  it('says that a client may not log people in', async () => {
    await expect(probe('no-login', 'no-login-secret')).rejects.toMatchObject({
      code: 'ClientRefused',
      message: expect.stringContaining('standard') as string,
    });
  });

  it('does not claim to know what an unusual answer means', async () => {
    provider.fail('token', { kind: 'status', status: 400, body: '{"error":"invalid_request"}' });
    expect(await probe('coffer', 'coffer-secret')).toMatchObject({ kind: 'unclear' });
  });

  it.each([401, 408, 429, 503])('takes the answer %i of a proxy for no refusal of the client', async (status) => {
    provider.fail('token', { kind: 'status', status, body: '<html>no</html>' });
    await expect(probe('coffer', 'coffer-secret')).rejects.toMatchObject({ code: 'UnexpectedStatus' });
  });

  it('tells a provider that fails from one that refuses', async () => {
    provider.fail('token', { kind: 'status', status: 500 });
    await expect(probe('coffer', 'coffer-secret')).rejects.toMatchObject({ code: 'UnexpectedStatus' });
    provider.fail('token', { kind: 'half-open' });
    await expect(probe('coffer', 'coffer-secret')).rejects.toMatchObject({ code: 'Unreachable' });
  });
});

describe('probe redirect', () => {
  const registered = 'https://console.example/oauth_callback';
  let provider: OpenIdProviderDouble;
  beforeAll(async () => {
    provider = await startOpenIdProvider({ clients: [{ id: 'coffer', redirectUris: [registered] }] });
  });
  afterEach(() => provider.heal());
  afterAll(() => provider.close());

  const probe = (redirectUri: string, authorizationEndpoint = `${provider.issuer}/protocol/openid-connect/auth`) =>
    probeRedirect({ authorizationEndpoint }, { clientId: 'coffer', redirectUri }, createLimitedFetch());

  describe('probeRedirect', () => {
    it('accepts an address that is registered', async () => {
      expect(await probe(registered)).toEqual({ kind: 'accepted' });
    });

    it('refuses one that is not, and names it', async () => {
      await expect(probe('https://other.example/oauth_callback')).rejects.toMatchObject({
        code: 'RedirectRefused',
        message: expect.stringContaining('"https://other.example/oauth_callback"') as string,
      });
    });

    it('refuses a scope that the client does not have, by the answer of Keycloak', async () => {
      const authorizationEndpoint = `${provider.issuer}/protocol/openid-connect/auth`;
      const asked = { clientId: 'coffer', redirectUri: registered };
      const scoped = (scopes: readonly string[]) =>
        probeRedirect({ authorizationEndpoint }, { ...asked, scopes }, createLimitedFetch());
      expect(await scoped(['openid', 'email', 'profile'])).toEqual({ kind: 'accepted' });
      await expect(scoped(['openid', 'email', 'preferred_username'])).rejects.toMatchObject({
        code: 'ScopeRefused',
        message: expect.stringMatching(/"openid email preferred_username".*invalid_scope/) as string,
      });
    });

    it.each([
      ['https://console.example/oauth_callback?error=login_required', { kind: 'accepted' }],
      ['https://idp.example/login', { kind: 'accepted' }],
      ['https://console.example/oauth_callback?error=server_error', { kind: 'unclear' }],
    ])('reads where the provider redirects to: %s', async (location, expected) => {
      const fetch = () => Promise.resolve(new Response(null, { status: 302, headers: { location } }));
      const endpoint = { authorizationEndpoint: 'https://idp.example/auth' };
      expect(await probeRedirect(endpoint, { clientId: 'c', redirectUri: registered }, fetch)).toMatchObject(expected);
    });

    it('does not claim to know what another refusal means', async () => {
      expect(await probe(registered, `${provider.issuer}/nowhere`)).toMatchObject({ kind: 'unclear' });
    });

    it('says that no server answers', async () => {
      await expect(probe(registered, 'http://127.0.0.1:1/auth')).rejects.toMatchObject({ code: 'Unreachable' });
    });
  });
});
