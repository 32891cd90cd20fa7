import { afterEach, describe, expect, it } from 'vitest';
import type { SessionAnswer } from '../../../../protocol/console/answers.ts';
import {
  rootKeys,
  TestBrowser,
  TestConsole,
  type TestConsoleOptions,
} from '../../../../test/support/console/test-console.ts';

const running: TestConsole[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((console) => console.close()));
});

async function open(options: TestConsoleOptions = {}) {
  const console = await TestConsole.start(options);
  running.push(console);
  return { console, browser: new TestBrowser(console.url) };
}

/** The header by which a browser keeps to TLS. */
const strict = async (options: Parameters<typeof open>[0], headers: Record<string, string> = {}) =>
  (await (await open(options)).browser.send('GET', '/api/sign-in-options', { headers })).headers.get(
    'strict-transport-security',
  );

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;
const hour = 3_600_000;

describe('the sign-in by access key', () => {
  it('starts a session that names the user', async () => {
    const { browser } = await open();
    expect((await browser.signIn()).status).toBe(200);
    const session = (await (await browser.send('GET', '/api/session')).json()) as SessionAnswer;
    expect(session).toMatchObject({ name: 'root', kind: 'root', accessKey: 'root', signedInBy: { kind: 'keys' } });
  });

  it('keeps the cookie from scripts and other sites', async () => {
    const { browser } = await open();
    const [cookie] = (await browser.signIn()).headers.getSetCookie();
    expect(cookie).toMatch(/^coffer_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);
  });

  it('marks the cookie as secure if browsers use TLS', async () => {
    const { browser } = await open({ settings: { browserUrl: 'https://console.example' } });
    const [cookie] = (await browser.signIn()).headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-coffer_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/);
    expect((await browser.send('GET', '/api/session')).status).toBe(200);
  });

  it('ignores the cookie without the __Host- prefix over TLS, which another host could set', async () => {
    const { browser, console } = await open({ settings: { browserUrl: 'https://console.example' } });
    await browser.signIn();
    const other = new TestBrowser(console.url);
    other.setCookie('coffer_session', browser.cookie('__Host-coffer_session') ?? '');
    expect((await other.send('GET', '/api/session')).status).toBe(401);
  });

  it('ignores two cookies with the same name', async () => {
    const { browser } = await open();
    await browser.signIn();
    const own = `coffer_session=${browser.cookie('coffer_session')}`;
    const status = async (cookie: string) =>
      (await browser.send('GET', '/api/session', { headers: { cookie } })).status;
    expect(await status(own)).toBe(200);
    expect(await status(`${own}; coffer_session=of-another`)).toBe(401);
    expect(await status(`coffer_session=of-another; ${own}`)).toBe(401);
    expect(await status(`${own}; ${own}`)).toBe(200);
  });

  it('sends HSTS over TLS', async () => {
    const proxies = { trusted: ['127.0.0.1'], header: 'x-forwarded-for' } as const;
    const viaTls = { 'x-forwarded-proto': 'https' };
    expect(await strict({})).toBeNull();
    expect(await strict({}, viaTls)).toBeNull();
    expect(await strict({ proxies }, viaTls)).toBe('max-age=31536000');
    expect(await strict({ settings: { browserUrl: 'https://console.example' } })).toBe('max-age=31536000');
  });

  it('limits guesses by the address that a trusted proxy names, and no other client of the proxy', async () => {
    const { browser } = await open({ proxies: { trusted: ['127.0.0.0/8'], header: 'x-forwarded-for' } });
    const signIn = (address: string, secretKey: string) =>
      browser.send('POST', '/api/sign-in', {
        json: { accessKey: 'root', secretKey },
        headers: { 'x-forwarded-for': `198.51.100.200, ${address}` },
      });
    for (let guess = 0; guess < 10; guess += 1) await signIn('203.0.113.1', `guess-${guess}`);
    expect((await signIn('203.0.113.1', rootKeys.secretKey)).status).toBe(429);
    expect((await signIn('203.0.113.2', rootKeys.secretKey)).status).toBe(200);
  });

  it.each([
    { accessKey: 'root', secretKey: 'wrong' },
    { accessKey: 'nobody', secretKey: 'root-password' },
    { accessKey: 'root', secretKey: 'root-password', sessionToken: 'made up' },
  ])('refuses %j', async (keys) => {
    const { browser } = await open();
    const response = await browser.signIn(keys);
    expect(response.status).toBe(401);
    expect(await codeOf(response)).toBe('SignInRefused');
    expect(browser.cookie('coffer_session')).toBeUndefined();
  });

  it('refuses a form without a secret key, saying which field', async () => {
    const { browser } = await open();
    const response = await browser.send('POST', '/api/sign-in', { json: { accessKey: 'root' } });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('secretKey');
  });

  it('limits guesses, also with the right secret key, and accepts it a minute later', async () => {
    const { console, browser } = await open();
    for (let guess = 0; guess < 10; guess += 1)
      await browser.signIn({ accessKey: 'root', secretKey: `guess-${guess}` });
    const rejected = await browser.signIn();
    expect(rejected.status).toBe(429);
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
    console.advance(61_000);
    expect((await browser.signIn()).status).toBe(200);
  });
});

describe('a session', () => {
  it('is needed for every other call', async () => {
    const { browser } = await open();
    for (const path of ['/api/session', '/api/buckets', '/api/buckets/docs/content?key=a']) {
      const response = await browser.send('GET', path);
      expect([path, response.status, await codeOf(response)]).toEqual([path, 401, 'NotSignedIn']);
    }
  });

  it('ends with the sign-out, for copies of the cookie too', async () => {
    const { browser, console } = await open();
    await browser.signIn();
    const copy = new TestBrowser(console.url);
    copy.setCookie('coffer_session', browser.cookie('coffer_session') ?? '');
    expect((await browser.send('POST', '/api/sign-out')).status).toBe(200);
    expect(browser.cookie('coffer_session')).toBeUndefined();
    expect((await copy.send('GET', '/api/session')).status).toBe(401);
  });

  it('ends after the configured duration', async () => {
    const { browser, console } = await open({ settings: { sessionDurationMs: hour } });
    await browser.signIn();
    console.advance(hour - 60_000);
    expect((await browser.send('GET', '/api/session')).status).toBe(200);
    console.advance(60_000);
    expect((await browser.send('GET', '/api/session')).status).toBe(401);
  });

  it('works on another replica, and after a restart', async () => {
    const { browser, console } = await open();
    await browser.signIn();
    const { browser: other } = await open({ stores: console.stores });
    other.setCookie('coffer_session', browser.cookie('coffer_session') ?? '');
    expect((await other.send('GET', '/api/session')).status).toBe(200);
  });

  it('ends when its secret key is replaced', async () => {
    const { browser, console } = await open();
    await browser.signIn();
    const { browser: other } = await open({ stores: console.stores, rootSecret: 'a-new-password' });
    other.setCookie('coffer_session', browser.cookie('coffer_session') ?? '');
    expect((await other.send('GET', '/api/session')).status).toBe(401);
  });

  it('leaves neither its secret nor a secret key in the store', async () => {
    const { browser, console } = await open();
    await browser.signIn();
    const stored: Buffer[] = [];
    for await (const item of console.stores.records.scan({ start: Buffer.alloc(0), end: Buffer.alloc(1900, 0xff) })) {
      if (item.kind === 'entry') stored.push(item.key, item.value);
    }
    const all = Buffer.concat(stored);
    expect(all.includes(browser.cookie('coffer_session') ?? '')).toBe(false);
    expect(all.includes(rootKeys.secretKey)).toBe(false);
  });

  it('is removed from the store after it expired', async () => {
    const { browser, console } = await open({ settings: { sessionDurationMs: hour } });
    const count = async () => {
      let entries = 0;
      for await (const _item of console.stores.records.scan({ start: Buffer.alloc(0), end: Buffer.alloc(1900, 0xff) }))
        entries += 1;
      return entries;
    };
    await browser.signIn();
    const before = await count();
    console.advance(2 * hour);
    await browser.signIn();
    await expect.poll(count).toBe(before);
  });
});

describe('requests of other sites', () => {
  it.each([
    ['without the header of the web application', { 'x-coffer-console': undefined }],
    ['from a page of another origin', { origin: 'https://evil.example' }],
    ['from an opaque origin', { origin: 'null' }],
    ['that the browser calls cross-site', { 'sec-fetch-site': 'cross-site' }],
  ])('are refused %s', async (_name, headers) => {
    const { console, browser } = await open();
    await browser.signIn();
    const sent = Object.entries({ 'x-coffer-console': '1', ...headers }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${console.url}/api/sign-out`, {
      method: 'POST',
      headers: { ...Object.fromEntries(sent), cookie: `coffer_session=${browser.cookie('coffer_session')}` },
    });
    expect(response.status).toBe(403);
    expect(await codeOf(response)).toBe('CrossSiteRequest');
    expect((await browser.send('GET', '/api/session')).status).toBe(200);
  });

  it('are distinguished from those of the console behind a proxy that changes the host', async () => {
    const { browser } = await open({ settings: { browserUrl: 'https://console.example/' } });
    const response = await browser.send('POST', '/api/sign-in', {
      json: rootKeys,
      headers: { origin: 'https://console.example', 'sec-fetch-site': 'same-origin' },
    });
    expect(response.status).toBe(200);
  });
});

describe('every answer', () => {
  it('forbids inline scripts, framing and guessing of types', async () => {
    const { browser } = await open();
    const { headers } = await browser.send('GET', '/api/sign-in-options');
    expect(headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('is JSON with a code for an unknown path', async () => {
    const { browser } = await open();
    await browser.signIn();
    const response = await browser.send('GET', '/api/nothing');
    expect(response.status).toBe(404);
    expect(await codeOf(response)).toBe('NotFound');
  });

  it.each(['{', '[1,2', '"'])('is a refusal for the broken body %s', async (body) => {
    const { browser } = await open();
    const response = await browser.send('POST', '/api/sign-in', {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(await codeOf(response)).toBe('BadRequest');
  });

  it('is an error for a body that is too large', async () => {
    const { browser } = await open();
    const response = await browser.send('POST', '/api/sign-in', { json: { accessKey: 'a'.repeat(100_000) } });
    expect(response.status).toBe(413);
  });
});
