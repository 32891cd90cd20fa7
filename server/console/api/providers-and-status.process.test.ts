import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenIdProviderDouble } from '../../../test/support/openid/openid-provider.ts';
import type { ErrorAnswer, SignInOptions, StatusAnswer } from '../../../protocol/console/answers.ts';
import type { ProviderAnswer, ProviderKinds, ProviderTest } from '../../../protocol/console/provider-answers.ts';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';

let fixed: OpenIdProviderDouble;
let other: OpenIdProviderDouble;
let console: TestConsole;
let root: TestBrowser;

beforeEach(async () => {
  [fixed, other] = await Promise.all([
    OpenIdProviderDouble.start(),
    OpenIdProviderDouble.start({ users: [{ username: 'alice', claims: { policy: 'readonly' } }] }),
  ]);
  console = await TestConsole.start({ openid: [{ id: 'FIXED', configUrl: fixed.configUrl, clientId: 'fixed' }] });
  other.realm.clients.get('coffer')?.redirectUris.push(`${console.url}/oauth_callback`);
  root = new TestBrowser(console.url);
  await root.signIn();
});
afterEach(async () => {
  await console.close();
  await Promise.all([fixed.close(), other.close()]);
});

const json = async <Answer>(response: Response) => (await response.json()) as Answer;
const error = async (response: Response) => ({ status: response.status, ...(await json<ErrorAnswer>(response)) });
const valuesOf = (changes: Record<string, string> = {}) => ({
  config_url: other.configUrl,
  client_id: 'coffer',
  client_secret: 'coffer-secret',
  ...changes,
});
const add = (name: string, changes: Record<string, string> = {}) =>
  root.send('POST', '/api/identity-providers?type=openid', { json: { name, values: valuesOf(changes) } });
const at = (what: string, name: string) => `/api/identity-provider${what}?type=openid&name=${name}`;
const save = async (browser: TestBrowser, changes: object) =>
  expect((await browser.send('PUT', at('', 'MINE'), { json: { changes } })).status).toBe(204);
const provider = async (name: string) => json<ProviderAnswer>(await root.send('GET', at('', name)));

describe('identity providers', () => {
  it('are listed with their state and origin', async () => {
    await add('MINE');
    const { kinds, redirectUri } = await json<ProviderKinds>(await root.send('GET', '/api/identity-providers'));
    expect(redirectUri).toBe(`${console.url}/oauth_callback`);
    expect(kinds).toMatchObject([
      {
        type: 'openid',
        testable: true,
        configurations: [
          { name: 'FIXED', origin: 'environment', enabled: true, state: { kind: 'ready' } },
          { name: 'MINE', origin: 'stored', enabled: true, state: { kind: 'ready', issuer: other.issuer } },
        ],
      },
      { type: 'ldap', multiple: false, configurations: [] },
    ]);
  });

  it('accept sign-ins as soon as they are added', async () => {
    await add('MINE', { display_name: 'Mine' });
    const { providers } = await json<SignInOptions>(await root.send('GET', '/api/sign-in-options'));
    expect(providers).toContainEqual({ id: 'MINE', displayName: 'Mine', ready: true });
    const alice = new TestBrowser(console.url);
    await alice.signInBy('MINE', 'alice', 'alice-password');
    expect((await alice.send('GET', '/api/session')).status).toBe(200);
  });

  it('keep a redacted secret, and never show it', async () => {
    await add('MINE');
    const { values } = await provider('MINE');
    expect(values).toMatchObject({ client_secret: '*REDACTED*' });
    const changes = { client_secret: '*REDACTED*', display_name: 'New' };
    const saved = await root.send('PUT', at('', 'MINE'), { json: { changes } });
    expect(saved.status).toBe(204);
    expect(await provider('MINE')).toMatchObject({ displayName: 'New' });
    const { steps } = await json<ProviderTest>(await root.send('POST', at('/test', 'MINE'), { json: {} }));
    expect(steps.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok', 'skipped']);
  });

  it('are tested before they are saved, and the failed step is named', async () => {
    const test = async (values: object) =>
      (await json<ProviderTest>(await root.send('POST', at('/test', 'NEW'), { json: { values } }))).steps.find(
        ({ outcome }) => outcome === 'failed',
      );
    expect(await test(valuesOf({ client_secret: 'mistyped' }))).toMatchObject({ step: 'Client', outcome: 'failed' });
    const gone = `${other.issuer}-gone/.well-known/openid-configuration`;
    expect(await test(valuesOf({ config_url: gone }))).toMatchObject({ step: 'Discovery', outcome: 'failed' });
    expect((await root.send('GET', at('', 'NEW'))).status).toBe(404);
  });

  it('are not saved if they cannot work, and the error begins with the key', async () => {
    const wrong = await error(await add('MINE', { redirect_uri: 'https://console.example.com/back' }));
    expect(wrong).toMatchObject({
      status: 400,
      code: 'XMinioConfigError',
      message: expect.stringMatching(/^redirect_uri/),
    });
    expect(await error(await add('MINE', { nonsense: '1' }))).toMatchObject({ status: 400 });
  });

  it('are switched off and on, and removed', async () => {
    await add('MINE');
    const set = (enabled: boolean) => root.send('PUT', at('/enabled', 'MINE'), { json: { enabled } });
    expect((await set(false)).status).toBe(204);
    expect(await provider('MINE')).toMatchObject({ enabled: false, state: { kind: 'off' } });
    expect((await set(true)).status).toBe(204);
    expect(await provider('MINE')).toMatchObject({ enabled: true, state: { kind: 'ready' } });
    expect((await root.send('DELETE', at('', 'MINE'))).status).toBe(204);
    expect((await root.send('GET', at('', 'MINE'))).status).toBe(404);
    const again = await root.send('PUT', at('', 'MINE'), { json: { changes: valuesOf() } });
    expect(await error(again)).toMatchObject({ code: 'XMinioAdminConfigIDPCfgNameDoesNotExist' });
    expect((await root.send('GET', at('', 'MINE'))).status).toBe(404);
  });

  it('keep what another administrator has changed since the page was read', async () => {
    await add('MINE', { display_name: 'Old', scopes: 'openid' });
    const second = new TestBrowser(console.url);
    await second.signIn();
    await save(second, { scopes: 'openid,profile', claim_name: 'role' });
    await save(root, { display_name: '' });
    const { values } = await provider('MINE');
    expect(values).toMatchObject({ scopes: 'openid,profile', claim_name: 'role', client_secret: '*REDACTED*' });
    expect(values).not.toHaveProperty('display_name');
  });

  it('are not replaced as a whole, as a page of an earlier release asks', async () => {
    await add('MINE');
    expect((await root.send('PUT', at('', 'MINE'), { json: { values: valuesOf() } })).status).toBe(400);
  });

  it('of the environment are read only', async () => {
    const code = 'XMinioAdminConfigEnvOverridden';
    const change = await root.send('PUT', at('', 'FIXED'), { json: { changes: valuesOf() } });
    expect(await error(change)).toMatchObject({ status: 400, code });
    expect(await error(await root.send('DELETE', at('', 'FIXED')))).toMatchObject({ status: 400, code });
    const off = await root.send('PUT', at('/enabled', 'FIXED'), { json: { enabled: false } });
    expect(await error(off)).toMatchObject({ status: 400, code });
  });
});

describe('the status', () => {
  it('has servers, space, key service and providers', async () => {
    expect(await json<StatusAnswer>(await root.send('GET', '/api/status'))).toMatchObject({
      version: '0.1.0',
      deploymentId: 'D',
      buckets: 0,
      servers: [{ endpoint: '127.0.0.1:9000', here: true }],
      space: { free: 30, total: 100 },
      keyService: { kind: 'none' },
      providers: [{ name: 'FIXED' }],
      directory: false,
    });
  });
});
