import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { testAccess } from '../../test/support/auth/sts.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import type { AccessService } from '../auth/access.ts';
import { proveOpenIdProvider, testOpenIdProvider } from '../federation/configurations/test-openid-provider.ts';
import { createOpenIdProviders, isSignedInAt, type OpenIdProviders } from '../federation/openid-providers.ts';
import { createAssumeRoleWithWebIdentity } from './assume-role-with-web-identity.ts';
import { createSignInTest } from './test-sign-in.ts';

/** The issuer of a CI system: its discovery document has no place to sign in, and it knows no clients. */
let issuer: OpenIdProviderDouble;
let access: AccessService;
let providers: OpenIdProviders;

beforeAll(async () => {
  issuer = await startOpenIdProvider({ users: [{ username: 'runner' }] });
  issuer.realm.discovery = { authorization_endpoint: undefined, token_endpoint: undefined };
});
afterAll(() => issuer.close());
beforeEach(async () => {
  access = await testAccess();
});

const settingsWith = (changes: Partial<OpenIdProviderSettings> = {}): OpenIdProviderSettings => ({
  id: 'CI',
  enabled: true,
  configUrl: issuer.configUrl,
  clientId: 'coffer',
  scopes: [],
  claimName: 'policy',
  claimUserinfo: false,
  rolePolicy: [],
  redirectUriDynamic: false,
  realm: 'master',
  ...changes,
});

async function opened(changes: Partial<OpenIdProviderSettings> = {}) {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  providers = createOpenIdProviders({ settings: [settingsWith(changes)], region: '', log });
  await providers.start();
  return createAssumeRoleWithWebIdentity({ providers, access });
}

const tokenOf = (repository: string, claims: Record<string, unknown> = {}) =>
  issuer.accessToken('runner', {
    sub: `repo:${repository}:ref:refs/heads/main`,
    aud: 'coffer',
    azp: undefined,
    typ: undefined,
    policy: undefined,
    ...claims,
  });

describe('a program of a CI system', () => {
  it('gets the policies that are attached to its subject, and no program of another repository', async () => {
    await access.identities.attach({ kind: 'claim', provider: 'CI', claim: 'sub', value: 'repo:org/app:*' }, [
      'readonly',
    ]);
    const assume = await opened();
    const { principal } = (await assume({ token: await tokenOf('org/app') })).credentials;
    const read = { principal, action: 's3:GetObject', resource: 'b/k', context: {} };
    expect((await access.authorize(read)).kind).toBe('allow');
    await expect(assume({ token: await tokenOf('org/other') })).rejects.toThrow(
      '"coffer idp openid policy attach ALIAS POLICY --provider CI --claim sub --value VALUE"',
    );
  });

  it('gets the policies of a claim', async () => {
    const assume = await opened();
    await expect(assume({ token: await tokenOf('org/app', { policy: 'readonly' }) })).resolves.toBeDefined();
  });

  it('gets those of the role', async () => {
    const assume = await opened({ rolePolicy: ['readonly'] });
    const [provider] = providers.list;
    const roleArn = provider?.roleArn ?? '';
    await expect(assume({ token: await tokenOf('org/app'), roleArn })).resolves.toMatchObject({ roleArn });
  });
});

describe('an issuer of tokens for programs', () => {
  it('can be added without a vendor, and its test says that nobody signs in there', async () => {
    await expect(proveOpenIdProvider(settingsWith(), 'https://console/oauth_callback')).resolves.toBeUndefined();
    expect(await testOpenIdProvider(settingsWith({ clientSecret: 'secret' }))).toMatchObject([
      { step: 'Certificates' },
      { step: 'Discovery', outcome: 'ok' },
      { step: 'Keys', outcome: 'ok' },
      { step: 'Client', outcome: 'skipped', message: 'The issuer gives tokens to programs alone, and has no sign-in.' },
    ]);
  });

  it('has no button in the console', async () => {
    await opened();
    expect(providers.list.filter(isSignedInAt)).toEqual([]);
  });

  it('is tested by a token alone', async () => {
    await opened();
    const test = createSignInTest({ providers, identities: access.identities });
    expect(await test.run('CI', { kind: 'password', user: 'ann', password: 'secret' })).toMatchObject({
      steps: [
        { step: 'Provider' },
        { step: 'Token', outcome: 'failed', message: expect.stringContaining('--token-file') as string },
      ],
    });
    await expect(test.beginDevice('CI')).rejects.toThrow('--token-file');
  });
});
