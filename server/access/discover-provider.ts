import { bearerFetch } from '../../platform/openid/bearer-fetch.ts';
import { discoverCluster } from '../../platform/openid/discover-cluster.ts';
import { discover, type ProviderMetadata } from '../../platform/openid/discovery.ts';
import type { ProviderFetch } from '../../platform/openid/provider-fetch.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';

/** What the provider says of itself, by the way of its vendor. Rejects with `OpenIdProblem`. */
export function discoverProvider(settings: OpenIdProviderSettings, fetch: ProviderFetch): Promise<ProviderMetadata> {
  if (settings.vendor === 'kubernetes') return discoverCluster(settings, fetch);
  return discover(settings.configUrl, { fetch });
}

/** With the token that the provider wants to see, where one is set. */
export function bearingFetch(
  { tokenFile, configUrl }: Pick<OpenIdProviderSettings, 'tokenFile' | 'configUrl'>,
  fetch: ProviderFetch,
): ProviderFetch {
  return tokenFile === undefined ? fetch : bearerFetch(fetch, { tokenFile, address: configUrl });
}
