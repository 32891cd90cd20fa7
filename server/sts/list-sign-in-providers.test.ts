import { describe, expect, it } from 'vitest';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import type { OpenIdProvider } from '../federation/openid-provider.ts';
import { listSignInProviders } from './list-sign-in-providers.ts';

const settings: OpenIdProviderSettings = {
  id: 'MAIN',
  enabled: true,
  configUrl: 'https://idp/.well-known/openid-configuration',
  clientId: 'coffer',
  clientSecret: 'hidden',
  scopes: ['email'],
  claimName: 'policy',
  claimUserinfo: false,
  rolePolicy: [],
  redirectUriDynamic: false,
  realm: 'master',
};

async function listed(changes: Partial<OpenIdProviderSettings>, roleArn?: string): Promise<string> {
  const provider: OpenIdProvider = {
    id: 'MAIN',
    settings: { ...settings, ...changes },
    displayName: 'Company',
    roleArn,
    status: { kind: 'unavailable', issue: undefined },
    fetch: () => Promise.reject(new Error('nothing is asked')),
  };
  const action = listSignInProviders({ list: [provider], started: Promise.resolve() });
  return (await action.serve(undefined as never, undefined as never)).result.join('');
}

describe('ListSignInProviders', () => {
  it('names no client that has a secret, and no secret', async () => {
    const text = await listed({});
    expect(text).toContain('<Name>MAIN</Name><DisplayName>Company</DisplayName><ConfigUrl>https://idp/');
    expect(text).toContain('<Scopes>openid email</Scopes>');
    expect([text.includes('ClientId'), text.includes('hidden')]).toEqual([false, false]);
  });

  it.each([
    ['the public client', { cliClientId: 'cli' }, 'cli'],
    ['the client itself, if it has no secret', { clientSecret: undefined }, 'coffer'],
  ])('names %s', async (_, changes, client) => {
    expect(await listed(changes as Partial<OpenIdProviderSettings>)).toContain(`<ClientId>${client}</ClientId>`);
  });

  it('names the role of a provider that has one', async () => {
    expect(await listed({}, 'arn:minio:iam:::role/x')).toContain('<RoleArn>arn:minio:iam:::role/x</RoleArn>');
  });

  it('leaves the issuer of a cluster out, where nobody signs in', async () => {
    expect(await listed({ vendor: 'kubernetes' })).toBe('<Providers/>');
  });
});
