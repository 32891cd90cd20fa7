import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDemoProvider } from '../../examples/demo-identity-provider/provider.ts';
import { listen } from '../../platform/http/listen.ts';
import { discover } from '../../platform/openid/discovery.ts';
import { probeClient, probeRedirect } from '../../platform/openid/probe.ts';
import { createLimitedFetch } from '../../platform/http/limited-fetch.ts';
import { freePort } from '../support/process/free-port.ts';

const users = [{ name: 'bob', password: 'bobs-password', policy: ['readonly', 'diagnostics'] }];
let secret = 'first-secret';
let origin = '';
let issuer = '';
let server: Server;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  issuer = `${origin}/realms/demo`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'a' };
  server = createDemoProvider({
    origin,
    realm: 'demo',
    clientId: 'coffer',
    clientSecret: () => secret,
    users,
    jwks: { keys: [key] },
    cookieKey: 'cookies',
  });
  await listen(server, { host: '127.0.0.1', port }, { setting: '' });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function token(form: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const body = new URLSearchParams({ client_id: 'coffer', client_secret: secret, ...form });
  const response = await fetch(`${issuer}/protocol/openid-connect/token`, { method: 'POST', body });
  return (await response.json()) as Record<string, unknown>;
}

const password = (more: Readonly<Record<string, string>> = {}) =>
  token({ grant_type: 'password', username: 'bob', password: 'bobs-password', ...more });

/** A browser that keeps cookies and follows one redirect at a time. */
class Browser {
  readonly #cookies = new Map<string, string>();

  async open(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(url, origin), { ...init, redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';')[0]?.split(/=(.*)/s) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }

  /** Follows redirects within the provider; answers where it leads out, or the page it ends at. */
  async follow(response: Response): Promise<{ page: string } | { out: URL }> {
    const location = response.headers.get('location');
    if (location === null) return { page: await response.text() };
    const url = new URL(location, origin);
    return url.origin === origin ? this.follow(await this.open(url.href)) : { out: url };
  }
}

function authorization(more: Readonly<Record<string, string>> = {}): string {
  const parameters = new URLSearchParams({
    client_id: 'coffer',
    response_type: 'code',
    redirect_uri: 'http://127.0.0.1:19090/oauth_callback',
    scope: 'openid email',
    state: 'the-state',
    ...more,
  });
  return `${issuer}/protocol/openid-connect/auth?${parameters.toString()}`;
}

describe('the demonstration provider', () => {
  it("passes the operator's own check", async () => {
    const metadata = await discover(`${issuer}/.well-known/openid-configuration`);
    expect(metadata.issuer).toBe(issuer);
    await expect(probeClient(metadata, { clientId: 'coffer', clientSecret: secret })).resolves.toEqual({
      kind: 'accepted',
    });
  });
  it('says that it is a demonstration wherever it has nothing to show', async () => {
    expect(await (await fetch(`${origin}/`)).text()).toContain('DEMONSTRATION');
  });
});

describe('the password grant', () => {
  it('gives a JWT whose claim policy is a list', async () => {
    const { access_token: jwt, expires_in: seconds } = await password();
    expect(decodeJwt(String(jwt))).toMatchObject({ iss: issuer, sub: 'bob', policy: ['readonly', 'diagnostics'] });
    expect(decodeProtectedHeader(String(jwt)).alg).toBe('RS256');
    expect(seconds).toBe(3600);
  });
  it('refuses a wrong password', async () => {
    expect(await password({ password: 'wrong' })).toMatchObject({ error: 'invalid_grant' });
  });
  it('refuses a user it does not know', async () => {
    expect(await password({ username: 'eve', password: '' })).toMatchObject({ error: 'invalid_grant' });
  });
  it('refuses a wrong client secret', async () => {
    expect(await password({ client_secret: 'wrong' })).toMatchObject({ error: 'invalid_client' });
  });
  it('follows a rotated client secret', async () => {
    secret = 'second-secret';
    expect(await password()).toHaveProperty('access_token');
    expect(await password({ client_secret: 'first-secret' })).toMatchObject({ error: 'invalid_client' });
  });
});

describe('the authorization code flow', () => {
  it('signs a person in and gives an ID token with the policies', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const browser = new Browser();
    const first = await browser.open(authorization({ code_challenge: challenge, code_challenge_method: 'S256' }));
    const login = first.headers.get('location') ?? '';
    const { page } = (await browser.follow(first)) as { page: string };
    expect(page).toContain('Demonstration identity provider.');
    const body = new URLSearchParams({ username: 'bob', password: 'bobs-password' });
    const { out } = (await browser.follow(await browser.open(login, { method: 'POST', body }))) as { out: URL };
    expect([out.pathname, out.searchParams.get('state')]).toEqual(['/oauth_callback', 'the-state']);
    const tokens = await token({
      grant_type: 'authorization_code',
      code: out.searchParams.get('code') ?? '',
      redirect_uri: 'http://127.0.0.1:19090/oauth_callback',
      code_verifier: verifier,
    });
    expect(decodeJwt(String(tokens['id_token']))).toMatchObject({
      aud: 'coffer',
      policy: ['readonly', 'diagnostics'],
      preferred_username: 'bob',
      email: 'bob@example.com',
    });
  });
  it('asks again after a wrong password', async () => {
    const browser = new Browser();
    const login = (await browser.open(authorization())).headers.get('location') ?? '';
    const body = new URLSearchParams({ username: 'bob', password: 'wrong' });
    const answer = await browser.open(login, { method: 'POST', body });
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('do not belong together')]);
  });
  it.each([
    'https://evil.example.com/oauth_callback',
    'http://127.0.0.1.evil.example.com/oauth_callback',
    'http://127.0.0.1:1/other',
  ])('does not send a code to %s', async (uri) => {
    const answer = await new Browser().open(authorization({ redirect_uri: uri }));
    expect(answer.headers.get('location')).toBeNull();
  });
});

describe('a scope that the client does not have', () => {
  const asked = { clientId: 'coffer', redirectUri: 'http://127.0.0.1:9090/oauth_callback' };

  it('ends a sign-in as at Keycloak, before a login', async () => {
    const metadata = await discover(`${issuer}/.well-known/openid-configuration`);
    const probe = (...scopes: string[]) => probeRedirect(metadata, { ...asked, scopes }, createLimitedFetch());
    expect(await probe('openid', 'email', 'profile')).toEqual({ kind: 'accepted' });
    await expect(probe('openid', 'preferred_username')).rejects.toMatchObject({ code: 'ScopeRefused' });
  });

  it('gives no token', async () => {
    expect(await password({ scope: 'openid preferred_username' })).toMatchObject({ error: 'invalid_scope' });
  });
});
