import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider } from '../../test/doubles/openid-provider.ts';
import type { OpenIdProviderDouble } from '../../test/doubles/openid-provider.ts';
import { probeRedirect } from './probe-redirect.ts';
import { createProviderFetch } from './provider-fetch.ts';

const registered = 'https://console.example/oauth_callback';
let provider: OpenIdProviderDouble;
beforeAll(async () => {
  provider = await startOpenIdProvider({ clients: [{ id: 'coffer', redirectUris: [registered] }] });
});
afterEach(() => provider.heal());
afterAll(() => provider.close());

const probe = (redirectUri: string, authorizationEndpoint = `${provider.issuer}/protocol/openid-connect/auth`) =>
  probeRedirect({ authorizationEndpoint }, { clientId: 'coffer', redirectUri }, createProviderFetch());

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

  it('does not claim to know what another refusal means', async () => {
    expect(await probe(registered, `${provider.issuer}/nowhere`)).toMatchObject({ kind: 'unclear' });
  });

  it('says that nobody answers', async () => {
    await expect(probe(registered, 'http://127.0.0.1:1/auth')).rejects.toMatchObject({ code: 'Unreachable' });
  });
});
