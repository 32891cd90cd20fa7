import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OpenIdProviderDouble } from '../../../../test/support/openid/openid-provider.ts';
import { sealedWithin } from '../../../encryption/sealed-records.ts';
import { type FinishedRequest, RequestEvents } from '../../../http/contract/request.ts';
import type { SessionAnswer, SignInOptions } from '../../../../protocol/console/answers.ts';
import {
  logIn,
  TestBrowser,
  TestConsole,
  type TestConsoleOptions,
} from '../../../../test/support/console/test-console.ts';

let provider: OpenIdProviderDouble;
const running: TestConsole[] = [];

beforeAll(async () => {
  provider = await OpenIdProviderDouble.start({
    users: [
      { username: 'alice', claims: { policy: 'readwrite', preferred_username: 'alice' } },
      { username: 'bob', claims: { policy: ['readonly'] } },
      { username: 'carol', claims: { groups: ['staff'] } },
    ],
  });
});
afterAll(() => provider.close());
afterEach(async () => {
  provider.heal();
  provider.realm.tokenLifetime = 300;
  provider.realm.refreshTokens = false;
  await Promise.all(running.splice(0).map((console) => console.close()));
});

async function open(options: TestConsoleOptions = {}, openid: Record<string, unknown> = {}) {
  const console = await TestConsole.start({
    openid: [{ id: 'DEMO', displayName: 'Demo login', configUrl: provider.configUrl, ...openid }],
    ...options,
  });
  running.push(console);
  register(`${console.url}/oauth_callback`);
  return { console, browser: new TestBrowser(console.url) };
}

function register(redirectUri: string): void {
  provider.realm.clients.get('coffer')?.redirectUris.push(redirectUri);
}

const begin = (browser: TestBrowser, to = '/') =>
  browser.send('GET', `/api/sign-in/DEMO?${new URLSearchParams({ to }).toString()}`);

async function notice(browser: TestBrowser): Promise<string | undefined> {
  return ((await (await browser.send('GET', '/api/sign-in-options')).json()) as SignInOptions).notice;
}

const recordCount = async ({ stores }: TestConsole) =>
  (await Array.fromAsync(stores.records.scan(sealedWithin()))).length;

const session = async (browser: TestBrowser) => {
  const response = await browser.send('GET', '/api/session');
  return response.status === 200 ? ((await response.json()) as SessionAnswer) : undefined;
};
/** The provider's clock stands still while the console's advances: its next tokens must be good then. */
const fiveMinutesLater = (console: TestConsole) => {
  console.advance(301_000);
  provider.realm.tokenLifetime = 3_600;
};

describe('the redirect to the identity provider', () => {
  it('asks for a code with PKCE, state and nonce, and comes back to the console', async () => {
    const { console, browser } = await open();
    const location = new URL((await begin(browser)).headers.get('location') ?? '');
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'coffer',
      code_challenge_method: 'S256',
      redirect_uri: `${console.url}/oauth_callback`,
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{20,}$/) as string,
    });
    expect(location.searchParams.get('scope')?.split(' ')).toContain('openid');
  });

  it('starts at the host of the redirect URI, which gets the cookie', async () => {
    const { console } = await open();
    const elsewhere = new TestBrowser(console.url.replace('127.0.0.1', 'localhost'));
    const first = await elsewhere.send('GET', '/api/sign-in/DEMO?to=/account');
    expect(first.headers.get('location')).toBe(`${console.url}/api/sign-in/DEMO?to=%2Faccount&hop=1`);
  });

  it('says that a provider does not answer, without its address', async () => {
    const { browser } = await open({}, { configUrl: `${provider.issuer}x/.well-known/openid-configuration` });
    const options = (await (await browser.send('GET', '/api/sign-in-options')).json()) as SignInOptions;
    expect(options.providers).toEqual([{ id: 'DEMO', displayName: 'Demo login', ready: false }]);
    expect((await begin(browser)).headers.get('location')).toBe('/sign-in');
    expect(await notice(browser)).toContain('Demo login does not answer');
    expect(await notice(browser)).not.toContain(new URL(provider.issuer).host);
  });
});

describe('sign-ins that begin', () => {
  it('store nothing, so that a flood from many networks does not stop the sign-in of another', async () => {
    const { console } = await open({ proxies: { trusted: ['127.0.0.0/8'], header: 'x-forwarded-for' } });
    const from = (address: string) =>
      fetch(`${console.url}/api/sign-in/DEMO`, { redirect: 'manual', headers: { 'x-forwarded-for': address } });
    await from('192.0.2.1');
    const before = await recordCount(console);
    const flood = Array.from({ length: 400 }, (_, at) => from(`198.51.${at % 100}.${at % 7}`));
    const answers = await Promise.all(flood);
    expect(new Set(answers.map(({ headers }) => headers.get('location')?.split('?')[0])).size).toBe(1);
    expect(await recordCount(console)).toBe(before);
    const browser = new TestBrowser(console.url);
    expect((await browser.signInBy('DEMO', 'alice', 'alice-password')).headers.get('location')).toBe('/');
  });

  it('are limited by network', async () => {
    const { browser } = await open();
    for (let count = 0; count < 60; count += 1) await begin(browser);
    expect((await begin(browser)).headers.get('location')).toBe('/sign-in');
    expect(await notice(browser)).toContain('Too many sign-ins were started from your address');
  });
});

describe('the return from the identity provider', () => {
  it.each(['client_secret_basic', 'client_secret_post'] as const)(
    'redeems the code of a client that is registered for %s alone',
    async (authMethod) => {
      const client = provider.realm.clients.get('coffer');
      if (client === undefined) throw new Error('no client');
      client.authMethod = authMethod;
      try {
        const { browser } = await open();
        const response = await browser.signInBy('DEMO', 'alice', 'alice-password');
        expect(response.headers.get('location')).toBe('/');
        expect(await session(browser)).toBeDefined();
      } finally {
        delete client.authMethod;
      }
    },
  );

  it('says that the client is refused, where its secret is wrong', async () => {
    const { browser } = await open({}, { clientSecret: 'wrong' });
    await browser.signInBy('DEMO', 'alice', 'alice-password');
    expect(await notice(browser)).toContain(
      'Demo login refuses the client (invalid_client), accepted neither by client_secret_basic nor by client_secret_post',
    );
  });

  it.each([
    [
      'another issuer',
      { iss: 'https://other.example', nonce: 'any' },
      /"iss" \(issuer\).*it is "https:\/\/other\.example", and "http.*realms\/demo" was expected/,
    ],
    [
      'another audience',
      { aud: 'other', nonce: 'any' },
      /"aud" \(audience\).*it is "other", and "coffer" was expected/,
    ],
    ['no nonce', { nonce: undefined }, /"nonce"/],
  ])('names the claim of an ID token with %s', async (_, claims, message) => {
    const { browser } = await open();
    const id_token = await provider.idToken('alice', claims);
    const body = JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token });
    provider.fail('token', { kind: 'status', status: 200, body });
    await browser.signInBy('DEMO', 'alice', 'alice-password');
    expect(await notice(browser)).toMatch(message);
  });

  it('says that the ID token is missing', async () => {
    const { browser } = await open();
    const body = JSON.stringify({ access_token: 'a', token_type: 'Bearer' });
    provider.fail('token', { kind: 'status', status: 200, body });
    await browser.signInBy('DEMO', 'alice', 'alice-password');
    expect(await notice(browser)).toMatch(/id_token|ID Token/i);
  });

  it('is reported to observers with the user and the issued credentials', async () => {
    const events = new RequestEvents();
    const told: FinishedRequest[] = [];
    events.subscribe((finished) => told.push(finished));
    const { browser } = await open({ events });
    await browser.signInBy('DEMO', 'alice', 'alice-password');
    await expect
      .poll(() => told.find(({ operation }) => operation === 'ConsoleSignInByProvider'))
      .toMatchObject({
        bearer: { source: 'openid', provider: 'DEMO', name: 'alice' },
        granted: { policies: ['readwrite'] },
      });
  });

  it('signs in with the policies of the claim, and redirects to the wanted page', async () => {
    const { browser } = await open();
    const response = await browser.signInBy('DEMO', 'alice', 'alice-password', '/buckets/docs?prefix=a%2F');
    expect(response.headers.get('location')).toBe('/buckets/docs?prefix=a%2F');
    const session = (await (await browser.send('GET', '/api/session')).json()) as SessionAnswer;
    expect(session).toMatchObject({
      name: 'alice',
      kind: 'temporary',
      signedInBy: { kind: 'provider', id: 'DEMO', displayName: 'Demo login' },
      policies: [{ name: 'readwrite' }],
    });
    expect(session.policies[0]?.statements?.[0]).toMatchObject({ effect: 'Allow' });
  });

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', '/..//evil.example', 'javascript:alert(1)'])(
    'never goes to %s',
    async (to) => {
      const { browser } = await open();
      const response = await browser.signInBy('DEMO', 'alice', 'alice-password', to);
      expect(response.headers.get('location')).toBe('/');
    },
  );

  it('can be handled by another replica', async () => {
    const address = 'http://127.0.0.1:1';
    const settings = { browserUrl: address };
    register(`${address}/oauth_callback`);
    const { console, browser } = await open({ settings });
    const begun = await browser.send('GET', '/api/sign-in/DEMO?hop=1');
    const back = new URL(await logIn(begun.headers.get('location') ?? '', 'alice', 'alice-password'));
    const other = await TestConsole.start({
      stores: console.stores,
      settings,
      openid: [{ id: 'DEMO', configUrl: provider.configUrl }],
    });
    running.push(other);
    const there = new TestBrowser(other.url);
    there.setCookie('coffer_sign_in', browser.cookie('coffer_sign_in') ?? '');
    await there.send('GET', `/oauth_callback${back.search}`);
    expect((await there.send('GET', '/api/session')).status).toBe(200);
  });

  it('works once', async () => {
    const { browser } = await open();
    const begun = await begin(browser);
    const cookie = browser.cookie('coffer_sign_in') ?? '';
    const back = await logIn(begun.headers.get('location') ?? '', 'alice', 'alice-password');
    await browser.send('GET', back);
    browser.setCookie('coffer_sign_in', cookie);
    expect((await browser.send('GET', back)).headers.get('location')).toBe('/sign-in');
    expect(await notice(browser)).toContain('already finished');
  });

  it('works only in the browser that started, which can still finish', async () => {
    const { console, browser } = await open();
    const begun = await begin(browser);
    const back = await logIn(begun.headers.get('location') ?? '', 'alice', 'alice-password');
    const victim = new TestBrowser(console.url);
    await begin(victim);
    await victim.send('GET', back);
    expect(await notice(victim)).toContain('another browser');
    expect((await victim.send('GET', '/api/session')).status).toBe(401);
    expect((await browser.send('GET', back)).headers.get('location')).toBe('/');
  });

  it('is refused after ten minutes', async () => {
    const { console, browser } = await open();
    const begun = await begin(browser);
    const back = await logIn(begun.headers.get('location') ?? '', 'alice', 'alice-password');
    console.advance(10 * 60_000);
    await browser.send('GET', back);
    expect(await notice(browser)).toContain('ten minutes');
  });

  it('refuses an unknown state', async () => {
    const { browser } = await open();
    await browser.send('GET', '/oauth_callback?code=x&state=y');
    expect(await notice(browser)).toContain('Sign in again');
  });

  it('shows the error of the provider and the redirect URI', async () => {
    const { console, browser } = await open();
    const begun = new URL((await begin(browser)).headers.get('location') ?? '');
    const answer = new URLSearchParams({
      state: begun.searchParams.get('state') ?? '',
      error: 'access_denied',
      error_description: 'the person said no',
    });
    await browser.send('GET', `/oauth_callback?${answer.toString()}`);
    expect(await notice(browser)).toContain('access_denied: the person said no');
    expect(await notice(browser)).toContain(`${console.url}/oauth_callback`);
  });

  it('names the client when its secret is wrong', async () => {
    const { browser } = await open({}, { clientSecret: 'wrong' });
    await browser.signInBy('DEMO', 'alice', 'alice-password');
    expect(await notice(browser)).toContain('invalid_client');
    expect(await notice(browser)).toContain('the client coffer');
  });

  it('names the expected claim if the user has no policy', async () => {
    const { browser } = await open();
    await browser.signInBy('DEMO', 'carol', 'carol-password');
    expect(await notice(browser)).toContain('"policy"');
  });

  it('reports a provider that cannot be reached any more', async () => {
    const { browser } = await open();
    const begun = await begin(browser);
    const back = await logIn(begun.headers.get('location') ?? '', 'alice', 'alice-password');
    provider.fail('token', { kind: 'status', status: 503, body: 'down' });
    await browser.send('GET', back);
    expect(await notice(browser)).toContain('Demo login');
    expect((await browser.send('GET', '/api/session')).status).toBe(401);
  });
});

describe('a session by single sign-on', () => {
  it('does not outlive credentials that cannot be renewed', async () => {
    const { console, browser } = await open();
    await browser.signInBy('DEMO', 'alice', 'alice-password');
    expect(await session(browser)).toBeDefined();
    fiveMinutesLater(console);
    expect(await session(browser)).toBeUndefined();
  });

  describe('with refresh tokens', () => {
    beforeEach(() => {
      provider.realm.refreshTokens = true;
    });

    it('gets new credentials before the old ones expire, with the current policies', async () => {
      const { console, browser } = await open();
      await browser.signInBy('DEMO', 'alice', 'alice-password');
      const before = await session(browser);
      provider.user('alice').claims['policy'] = 'readonly';
      fiveMinutesLater(console);
      const after = await session(browser);
      provider.user('alice').claims['policy'] = 'readwrite';
      expect(after?.accessKey).not.toBe(before?.accessKey);
      expect(after?.policies).toMatchObject([{ name: 'readonly' }]);
      expect(after?.expires).toBe(before?.expires);
    });

    it('uses a refresh token once for concurrent calls', async () => {
      const { console, browser } = await open();
      await browser.signInBy('DEMO', 'alice', 'alice-password');
      fiveMinutesLater(console);
      const sessions = await Promise.all(Array.from({ length: 8 }, () => session(browser)));
      expect(new Set(sessions.map((found) => found?.accessKey)).size).toBe(1);
      expect(sessions[0]).toBeDefined();
    });

    it('ends when the user was disabled at the provider', async () => {
      const { console, browser } = await open();
      await browser.signInBy('DEMO', 'alice', 'alice-password');
      provider.user('alice').enabled = false;
      fiveMinutesLater(console);
      const found = await session(browser);
      provider.user('alice').enabled = true;
      expect(found).toBeUndefined();
      expect(await session(browser)).toBeUndefined();
    });

    it('survives an outage of the provider', async () => {
      const { console, browser } = await open();
      await browser.signInBy('DEMO', 'alice', 'alice-password');
      fiveMinutesLater(console);
      provider.fail('token', { kind: 'half-open' });
      expect(await session(browser)).toBeUndefined();
      provider.heal();
      expect(await session(browser)).toBeDefined();
    });

    it.each([
      ['token', { kind: 'status', status: 400, body: '{"error":"temporarily_unavailable"}' }],
      ['token', { kind: 'status', status: 429, body: '{"error":"too_many_requests"}' }],
      ['token', { kind: 'status', status: 404, body: '<html>not found</html>' }],
      ['userinfo', { kind: 'status', status: 404, body: '<html>not found</html>' }],
      ['userinfo', { kind: 'status', status: 503, body: '' }],
    ] as const)('survives the answer of a gateway before the provider: %s %j', async (endpoint, failure) => {
      const { console, browser } = await open({}, { claimUserinfo: endpoint === 'userinfo' });
      await browser.signInBy('DEMO', 'alice', 'alice-password');
      fiveMinutesLater(console);
      provider.fail(endpoint, failure);
      expect(await session(browser)).toBeUndefined();
      provider.heal();
      expect(await session(browser)).toBeDefined();
    });

    it('ends after the configured duration nevertheless', async () => {
      const { console, browser } = await open({ settings: { sessionDurationMs: 240_000 } });
      await browser.signInBy('DEMO', 'alice', 'alice-password');
      fiveMinutesLater(console);
      expect(await session(browser)).toBeUndefined();
    });
  });
});

const signOut = async (browser: TestBrowser) =>
  (await (await browser.send('POST', '/api/sign-out')).json()) as { readonly location?: string };

describe('the sign-out', () => {
  it('ends the session of the provider too, which sends the browser back to the sign-in', async () => {
    const { console, browser } = await open();
    await browser.signInBy('DEMO', 'alice', 'alice-password');
    const { location = '' } = await signOut(browser);
    expect(await session(browser)).toBeUndefined();
    const answer = await fetch(location, { redirect: 'manual' });
    expect(answer.headers.get('location')).toBe(`${console.url}/oauth_callback`);
    expect(provider.signedOut.at(-1)).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const back = await browser.send('GET', '/oauth_callback');
    expect([back.status, back.headers.get('location')]).toEqual([302, '/sign-in']);
    expect(await notice(browser)).toBeUndefined();
  });

  it('stays here for a session by an access key', async () => {
    const { browser } = await open();
    await browser.signIn();
    expect(await signOut(browser)).toEqual({});
  });
});
