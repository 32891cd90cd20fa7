import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenIdProviderSettings } from '../../../platform/settings/server-settings.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../../test/support/openid/openid-provider.ts';
import { builtInPolicies } from '../../../protocol/policy/built-in-policies.ts';
import { createOpenIdProviders, type OpenIdProviders } from '../openid-providers.ts';
import { noKeySource } from '../../encryption/key-source.ts';
import { sealedRecords } from '../../encryption/sealed-records.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { redacted, type IdentityProviderConfigurations } from './provider-configurations.ts';
import { openIdConfigurations, storedProviders } from './openid-configurations.ts';
import { storedConfigurations, type StoredConfigurations } from './stored-configurations.ts';

let double: OpenIdProviderDouble;
let stored: StoredConfigurations;
let providers: OpenIdProviders;
let others: OpenIdProviders;
let configurations: IdentityProviderConfigurations;
let lines: string[];

beforeAll(async () => {
  double = await startOpenIdProvider();
});
afterAll(() => double.close());

const policyExists = (name: string) => Promise.resolve(builtInPolicies.has(name));

const fromEnvironment = (): OpenIdProviderSettings => ({
  id: 'fixed',
  enabled: true,
  configUrl: double.configUrl,
  clientId: 'fixed-client',
  clientSecret: 'fixed-secret',
  scopes: [],
  claimName: 'policy',
  claimUserinfo: false,
  rolePolicy: [],
  redirectUriDynamic: false,
  realm: 'master',
});

beforeEach(async () => {
  double.heal();
  lines = [];
  const records = sealedRecords({ records: new MemoryRecordStore(), keys: noKeySource });
  await records.start();
  stored = storedConfigurations(records, () => new Date('2026-01-02T03:04:05Z'));
  const say = (_fields: object, message: string) => void lines.push(message);
  const log = { info: say, warn: say, error: say };
  const settings = [fromEnvironment()];
  const open = () =>
    createOpenIdProviders({ settings, region: '', log, stored: storedProviders(stored), retryDelay: () => 60_000 });
  [providers, others] = [open(), open()];
  await Promise.all([providers.start(), others.start()]);
  const apply = () => providers.refresh();
  configurations = openIdConfigurations({ stored, environment: settings, region: 'eu', policyExists, apply });
});

const given = (values: Record<string, string> = {}) =>
  new Map(
    Object.entries({ config_url: double.configUrl, client_id: 'coffer', client_secret: 'coffer-secret', ...values }),
  );
const add = (name: string, values: Record<string, string> = {}) => configurations.save(name, given(values), 'add');
const update = (name: string, values: Record<string, string>) =>
  configurations.save(name, new Map(Object.entries(values)), 'update');

describe('openIdConfigurations', () => {
  it('takes a new provider into effect without a restart, on this thread and on others', async () => {
    expect(await add('okta')).toEqual({ applied: true });
    await others.started;
    // The change waits for the provider for 2 s.
    await expect.poll(() => providers.byId('okta')?.status.kind).toBe('ready');
    await expect.poll(() => others.byId('okta')?.status.kind).toBe('ready');
    expect(lines.filter((line) => /okta is ready/.test(line))).toHaveLength(2);
  });

  it('keeps the same provider while another one changes', async () => {
    await add('okta');
    const [fixed, okta] = providers.list;
    await update('okta', { display_name: 'Okta' });
    expect(providers.list[0]).toBe(fixed);
    expect(providers.list[1]).not.toBe(okta);
    expect(providers.byId('okta')?.displayName).toBe('Okta');
  });

  it('lists those of the environment and the stored ones, with their roles', async () => {
    await add('okta', { role_policy: 'readonly' });
    expect(await configurations.list()).toMatchObject([
      { name: 'fixed', enabled: true, origin: 'environment', roleArn: 'arn:minio:iam:::role/dummy-internal' },
      { name: 'okta', origin: 'stored', roleArn: 'arn:minio:iam:eu::role/29zYCYh9bvX6I4MrSd7CVECSCoY' },
    ]);
  });

  it('never shows a secret', async () => {
    await add('okta');
    const shown = JSON.stringify([await configurations.get('okta'), await configurations.get('fixed')]);
    expect(shown).not.toMatch(/hunter2|fixed-secret/);
    expect(shown).toContain('{"key":"client_secret","value":"*REDACTED*"}');
  });

  it('leaves what is not given as it was, and a secret that comes back redacted', async () => {
    await add('okta', { scopes: 'openid' });
    await update('okta', { client_secret: '*REDACTED*', scopes: '' });
    const [known] = await stored.list('identity_openid');
    expect(known && Object.fromEntries(known.values)).toEqual(Object.fromEntries(given()));
  });

  it('switches off and on', async () => {
    await add('okta');
    await update('okta', { enable: 'off' });
    expect(providers.byId('okta')).toBeUndefined();
    expect(lines.at(-1)).toMatch(/okta was removed or switched off/);
    await update('okta', { enable: 'on' });
    expect(providers.byId('okta')?.status.kind).toBe('ready');
  });

  it('removes', async () => {
    await add('okta');
    await configurations.remove('okta');
    expect(providers.byId('okta')).toBeUndefined();
    await others.started;
    expect(others.byId('okta')).toBeUndefined();
    expect(await configurations.get('okta')).toBeUndefined();
  });

  it('takes single keys away', async () => {
    await add('okta', { comment: 'a', display_name: 'b' });
    await configurations.remove('okta', ['comment']);
    expect((await configurations.get('okta'))?.values.map(({ key }) => key)).not.toContain('comment');
  });

  it.each([
    ['add', () => add('fixed')],
    ['update', () => update('fixed', { comment: 'x' })],
    ['remove', () => configurations.remove('fixed')],
  ])('refuses to %s what the environment gives', async (_what, change) => {
    await expect(change()).rejects.toMatchObject({
      code: 'from-environment',
      message: expect.stringMatching(/environment/) as string,
    });
  });

  it('refuses to add twice, and to change or remove what is not there', async () => {
    await add('okta');
    await expect(add('okta')).rejects.toMatchObject({ code: 'configuration-exists' });
    await expect(update('other', { comment: 'x' })).rejects.toMatchObject({ code: 'no-such-configuration' });
    await expect(configurations.remove('other')).rejects.toMatchObject({ code: 'no-such-configuration' });
  });

  it.each([
    [{ clientid: 'x' }, /clientid is no key.*the keys are enable, config_url/],
    [{ client_id: 'fixed-client' }, /client_id is "fixed-client", which the configuration fixed has/],
    [{ role_policy: 'readonly', claim_name: 'groups' }, /exclude each other/],
    [{ redirect_uri: 'https://console/callback' }, /must end in \/oauth_callback/],
    [{ vendor: 'acme' }, /vendor is "acme"/],
    [{ vendor: 'keycloak' }, /needs keycloak_admin_url/],
    [{ config_url: 'https://idp/realms/a' }, /must end in \/\.well-known/],
    [{ config_url: 'http://127.0.0.1:1/.well-known/openid-configuration' }, /refused/],
    [{ ca: '-----BEGIN CERTIFICATE-----x' }, /certificate/],
    [{ enable: 'perhaps' }, /enable is "perhaps"/],
    [{ config_url: '' }, /config_url is missing/],
  ] as [Record<string, string>, RegExp][])('refuses %j', async (values, says) => {
    await expect(add('okta', values)).rejects.toMatchObject({ message: expect.stringMatching(says) as string });
    expect(await stored.list('identity_openid')).toEqual([]);
  });

  it.each(['', 'a b', '-a', 'a/b', 'a'.repeat(65)])('refuses the name %j', async (name) => {
    await expect(add(name)).rejects.toMatchObject({ code: 'invalid-configuration' });
  });

  it('refuses a provider whose document names another issuer', async () => {
    double.realm.discovery = { issuer: 'https://other.example' };
    await expect(add('okta')).rejects.toMatchObject({
      code: 'unusable-provider',
      message: expect.stringMatching(/issuer/) as string,
    });
  });

  it('refuses one whose keys cannot be read', async () => {
    double.fail('jwks', { kind: 'status', status: 500 });
    await expect(add('okta')).rejects.toMatchObject({ code: 'unusable-provider' });
  });

  it('does not ask a provider that is switched off', async () => {
    double.fail('discovery', { kind: 'status', status: 500 });
    await add('okta', { enable: 'off' });
    expect(await configurations.get('okta')).toMatchObject({ enabled: false });
  });

  it('lets one of two that add the same at once win', async () => {
    const settled = await Promise.allSettled([add('okta'), add('okta'), add('okta')]);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('remembers each change, the newest first', async () => {
    await add('okta');
    await update('okta', { comment: 'a b' });
    const [last, first] = await stored.history(10);
    expect(last?.text).toContain('comment="a b"');
    expect(first?.text).toMatch(/^identity_openid:okta /);
    await stored.clearHistory(last?.id);
    expect(await stored.history(10)).toEqual([first]);
    await stored.clearHistory();
    expect(await stored.history(10)).toEqual([]);
  });
});

const outcomes = async (name: string, values?: Record<string, string>) =>
  ((await configurations.test?.(name, values === undefined ? undefined : given(values))) ?? []).map(
    ({ step, outcome }) => `${step}: ${outcome}`,
  );

describe('what is saved', () => {
  const wrong = new Map([['client_secret', 'mistyped']]);

  it('was proven to work first', async () => {
    await add('okta');
    await expect(configurations.save('okta', wrong, 'update')).rejects.toMatchObject({
      code: 'unusable-provider',
      message: expect.stringMatching(/refuses the client "coffer".*--force/) as string,
    });
    expect(await outcomes('okta')).toContain('Client: ok');
  });

  it('need not be where the administrator insists', async () => {
    await add('okta');
    await configurations.save('okta', wrong, 'update', { unproven: true });
    expect(await outcomes('okta')).toContain('Client: failed');
  });

  it.each([
    ['an admin interface that is not there', { vendor: 'keycloak', keycloak_admin_url: 'http://127.0.0.1:1/admin' }],
    ['a redirect address that is not registered', { redirect_uri: 'https://console.example/oauth_callback' }],
  ])('has no %s', async (_, values) => {
    await expect(add('okta', values)).rejects.toMatchObject({ code: 'unusable-provider' });
  });
});

describe('a role policy that does not exist', () => {
  const values = { role_policy: 'readonly,readonyl' };

  it('is refused by its name, at add and at update', async () => {
    const refusal = {
      code: 'unusable-provider',
      message: expect.stringMatching(/role_policy names "readonyl", and no such policy exists.*--force/) as string,
    };
    await expect(add('okta', values)).rejects.toMatchObject(refusal);
    await add('okta', { role_policy: 'readonly' });
    await expect(update('okta', values)).rejects.toMatchObject(refusal);
    expect((await configurations.get('okta'))?.values).toContainEqual({ key: 'role_policy', value: 'readonly' });
  });

  it('is saved where the administrator insists, and where the provider is off', async () => {
    await configurations.save('okta', given(values), 'add', { unproven: true });
    await add('later', { ...values, client_id: 'later', enable: 'off' });
    expect(await outcomes('okta')).toContain('Role policy: failed');
  });

  it('that was there before stands in the way of no other change', async () => {
    await configurations.save('okta', given(values), 'add', { unproven: true });
    await update('okta', { display_name: 'Okta' });
    expect((await configurations.get('okta'))?.values).toContainEqual({ key: 'display_name', value: 'Okta' });
  });

  it('is taken from an import, after which the policies may come', async () => {
    await configurations.save('okta', given(values), 'replace');
    expect(await configurations.get('okta')).toBeDefined();
  });

  it('is looked up by the test', async () => {
    expect(await outcomes('new', { role_policy: 'readonly' })).toContain('Role policy: ok');
    expect(await outcomes('new', values)).toContain('Role policy: failed');
  });
});

describe('the test of a provider', () => {
  it('goes from discovery to the client, and saves nothing', async () => {
    expect(await outcomes('new', { client_secret: 'coffer-secret' })).toEqual([
      'Certificates: ok',
      'Discovery: ok',
      'Keys: ok',
      'Client: ok',
      'Redirect: skipped',
    ]);
    expect(await configurations.get('new')).toBeUndefined();
  });

  it('says that the client or its secret is wrong', async () => {
    const steps = (await configurations.test?.('new', given({ client_secret: 'mistyped' }))) ?? [];
    const client = steps.find(({ step }) => step === 'Client');
    expect(client).toMatchObject({ outcome: 'failed' });
    expect(client?.message).toContain('check client_id and client_secret');
  });

  it('says that the provider refuses the redirect address', async () => {
    const redirect_uri = 'https://console.example/oauth_callback';
    const steps = (await configurations.test?.('new', given({ redirect_uri }))) ?? [];
    expect(steps.at(-1)).toMatchObject({ step: 'Redirect', outcome: 'failed' });
    expect(steps.at(-1)?.message).toContain(redirect_uri);
    double.realm.clients.get('coffer')?.redirectUris.push(redirect_uri);
    expect(await outcomes('new', { redirect_uri })).toContain('Redirect: ok');
  });

  it('says that there is no admin interface to look users up at', async () => {
    const admin = { vendor: 'keycloak', keycloak_realm: 'coffer', keycloak_admin_url: `${double.issuer}/nowhere` };
    expect(await outcomes('new', admin)).toContain('Administration: failed');
  });

  it('ends where the provider cannot be reached', async () => {
    const nowhere = 'http://127.0.0.1:1/.well-known/openid-configuration';
    expect(await outcomes('new', { config_url: nowhere })).toEqual(['Certificates: ok', 'Discovery: failed']);
  });

  it('takes a secret that comes back redacted for the one that is saved', async () => {
    await add('kept', { client_secret: 'coffer-secret' });
    expect(await outcomes('kept', { client_secret: redacted })).toContain('Client: ok');
    expect(await outcomes('kept')).toContain('Client: ok');
  });

  it('uses what the environment gives for a provider of the environment', async () => {
    expect(await outcomes('fixed')).toContain('Client: failed');
  });
});
