import { element } from '../../protocol/s3/xml-writer.ts';
import { isSignedInAt, signInScopes, type OpenIdProvider } from '../federation/openid-provider.ts';
import type { OpenIdProviders } from '../federation/openid-providers.ts';
import type { StsAction } from './sts-request.ts';

/**
 * Coffer's own action `ListSignInProviders`: the OpenID providers by which programs of users sign in (`coffer login`). Anyone may ask, as for
 * the sign-in page of the console, whose redirect names the provider and the client, too. A provider whose client has a secret, and which
 * has no public client besides, is listed without `ClientId`.
 */
export function listSignInProviders(providers: Pick<OpenIdProviders, 'list' | 'started'>): StsAction {
  return {
    name: 'ListSignInProviders',
    async serve() {
      // Discovery has the scopes.
      await providers.started;
      const described = providers.list.filter(isSignedInAt).map((provider) => element('member', describe(provider)));
      return { result: [element('Providers', described)] };
    },
  };
}

function describe(provider: OpenIdProvider) {
  const { cliClientId, clientId, clientSecret, configUrl } = provider.settings;
  const publicClient = cliClientId ?? (clientSecret === undefined ? clientId : undefined);
  return [
    element('Name', provider.id),
    element('DisplayName', provider.displayName),
    element('ConfigUrl', configUrl),
    publicClient === undefined ? undefined : element('ClientId', publicClient),
    element('Scopes', signInScopes(provider).join(' ')),
    provider.roleArn === undefined ? undefined : element('RoleArn', provider.roleArn),
  ];
}
