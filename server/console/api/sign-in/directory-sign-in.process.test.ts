import { afterEach, describe, expect, it } from 'vitest';
import { IdentityError } from '../../../auth/identity-error.ts';
import { type FinishedRequest, RequestEvents } from '../../../http/contract/request.ts';
import type { SessionAnswer, SignInOptions } from '../../../../protocol/console/answers.ts';
import { TestBrowser, TestConsole, type TestConsoleOptions } from '../../../../test/support/console/test-console.ts';

const running: TestConsole[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((console) => console.close()));
});

const dn = 'uid=ann,ou=people,dc=example,dc=org';
const staff = 'cn=staff,ou=groups,dc=example,dc=org';

const people: NonNullable<TestConsoleOptions['directory']> = {
  authenticate(name, password) {
    if (name === 'twin') throw new IdentityError('ambiguous-user', 'The directory has several users called "twin".');
    if (name === 'away')
      throw new IdentityError('directory-unavailable', 'The directory ldap.internal:389 cannot be asked now.');
    if (name !== 'ann' || password !== 'ann-password')
      throw new IdentityError('sign-in-refused', 'Not this name and password.');
    return Promise.resolve({ name, dn, groups: [staff] });
  },
};

async function open(options: TestConsoleOptions = { directory: people }) {
  const console = await TestConsole.start(options);
  running.push(console);
  return { console, browser: new TestBrowser(console.url) };
}

const signIn = (browser: TestBrowser, name = 'ann', password = 'ann-password') =>
  browser.send('POST', '/api/sign-in-by-directory', { json: { name, password } });

async function offersDirectory(options: TestConsoleOptions): Promise<boolean> {
  const { browser } = await open(options);
  return ((await (await browser.send('GET', '/api/sign-in-options')).json()) as SignInOptions).directory;
}

async function refusalOf(response: Response) {
  return { status: response.status, ...((await response.json()) as { code: string; message: string }) };
}

describe('the sign-in by a directory', () => {
  it('is offered where a directory is configured', async () => {
    expect([await offersDirectory({ directory: people }), await offersDirectory({})]).toEqual([true, false]);
  });

  it('starts a session with the policies of the user and the groups', async () => {
    const { console, browser } = await open();
    await console.identities.attach({ kind: 'ldap-user', name: dn }, ['readonly']);
    await console.identities.attach({ kind: 'ldap-group', name: staff }, ['diagnostics']);
    const session = (await (await signIn(browser)).json()) as SessionAnswer;
    expect(session).toMatchObject({ name: 'ann', kind: 'temporary', signedInBy: { kind: 'directory' } });
    expect(session.policies.map(({ name }) => name).toSorted()).toEqual(['diagnostics', 'readonly']);
    expect((await browser.send('GET', '/api/buckets')).status).toBe(200);
  });

  it('is reported to observers with the user and the issued credentials', async () => {
    const events = new RequestEvents();
    const told: FinishedRequest[] = [];
    events.subscribe((finished) => told.push(finished));
    const { console, browser } = await open({ directory: people, events });
    await console.identities.attach({ kind: 'ldap-user', name: dn }, ['readonly']);
    await (await signIn(browser)).text();
    await expect
      .poll(() => told)
      .toMatchObject([
        {
          operation: 'ConsoleSignInByDirectory',
          bearer: { source: 'ldap', subject: expect.stringContaining(dn) as unknown },
          granted: { policies: ['readonly'] },
        },
      ]);
  });

  it('lasts as long as a session of the console', async () => {
    const { console, browser } = await open({ directory: people, settings: { sessionDurationMs: 2 * 3_600_000 } });
    await console.identities.attach({ kind: 'ldap-user', name: dn }, ['readonly']);
    await signIn(browser);
    console.advance(2 * 3_600_000 - 60_000);
    expect((await browser.send('GET', '/api/session')).status).toBe(200);
    console.advance(60_000);
    expect((await browser.send('GET', '/api/session')).status).toBe(401);
  });

  it('refuses a wrong password, an unknown and an ambiguous name alike', async () => {
    const { browser } = await open();
    const rejected = [
      await signIn(browser, 'ann', 'wrong'),
      await signIn(browser, 'nobody'),
      await signIn(browser, 'twin'),
    ];
    expect(await Promise.all(rejected.map(refusalOf))).toEqual(
      rejected.map(() => ({
        status: 401,
        code: 'SignInRefused',
        message: 'The directory does not know this name with this password.',
      })),
    );
  });

  it('names the DN and the groups to a user without policies', async () => {
    const { browser } = await open();
    const { status, message } = await refusalOf(await signIn(browser));
    expect([status, message]).toEqual([401, expect.stringContaining(`the LDAP user ${dn}, nor to a group of theirs`)]);
    expect(message).toContain(staff);
    expect(browser.cookie('coffer_session')).toBeUndefined();
  });

  it('reports an unavailable directory without its address', async () => {
    const { browser } = await open();
    const rejected = await refusalOf(await signIn(browser, 'away'));
    expect(rejected).toMatchObject({ status: 503, code: 'DirectoryUnavailable' });
    expect(rejected.message).not.toContain('ldap.internal');
  });

  it('limits guesses, ignoring the case of the name', async () => {
    const { console, browser } = await open();
    await console.identities.attach({ kind: 'ldap-user', name: dn }, ['readonly']);
    for (let guess = 0; guess < 10; guess += 1) await signIn(browser, guess % 2 ? 'ANN' : 'ann', `guess-${guess}`);
    expect((await signIn(browser)).status).toBe(429);
    console.advance(61_000);
    expect((await signIn(browser)).status).toBe(200);
  });

  it('counts guesses alone', async () => {
    const { browser } = await open();
    for (let time = 0; time < 12; time += 1) await signIn(browser, 'away');
    expect((await signIn(browser, 'away')).status).toBe(503);
  });

  it('does not try a secret key as a password, nor a password as a secret key', async () => {
    const asked: string[] = [];
    const { browser } = await open({
      directory: {
        authenticate(name) {
          asked.push(name);
          throw new IdentityError('sign-in-refused', '');
        },
      },
    });
    await browser.signIn({ accessKey: 'ann', secretKey: 'ann-password' });
    expect(asked).toEqual([]);
    expect((await signIn(browser, 'root', 'root-password')).status).toBe(401);
  });
});
