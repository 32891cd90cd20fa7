import { createKeySet } from '../../platform/openid/key-set.ts';
import { OpenIdProblem } from '../../platform/openid/openid-problem.ts';
import { probeClient } from '../../platform/openid/probe-client.ts';
import { createProviderFetch } from '../../platform/openid/provider-fetch.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { bearingFetch, discoverProvider } from '../access/discover-provider.ts';
import { providerCa } from '../access/provider-ca.ts';
import type { TestStep } from './identity-provider-configurations.ts';

/** Walks the way that a sign-in takes as far as it goes without a person, and says where it breaks. Never rejects with `OpenIdProblem`. */
export async function testOpenIdProvider(provider: OpenIdProviderSettings): Promise<readonly TestStep[]> {
  const steps: TestStep[] = [];
  const at = async <T>(step: string, work: () => Promise<T>, say: (result: T) => Omit<TestStep, 'step'>) => {
    try {
      const result = await work();
      steps.push({ step, ...say(result) });
      return result;
    } catch (error) {
      if (!(error instanceof OpenIdProblem)) throw error;
      steps.push({ step, outcome: 'failed', message: error.message });
      return undefined;
    }
  };
  const fetch = await at(
    'Certificates',
    async () => {
      const ca = await providerCa(provider);
      return bearingFetch(provider, createProviderFetch(ca === undefined ? {} : { ca }));
    },
    () => ({
      outcome: 'ok',
      message: ownCa(provider) ? 'Its own CA can be read.' : 'Those of the system are trusted.',
    }),
  );
  if (fetch === undefined) return steps;
  const metadata = await at(
    'Discovery',
    () => discoverProvider(provider, fetch),
    ({ issuer, warnings }) => ({
      outcome: warnings.length > 0 ? 'unclear' : 'ok',
      message: [`The issuer is ${issuer}.`, ...warnings].join(' '),
    }),
  );
  if (metadata === undefined) return steps;
  await at(
    'Keys',
    () => createKeySet(metadata.jwksUri, { fetch }).load(),
    () => ({ outcome: 'ok', message: `The keys at ${metadata.jwksUri} can be used.` }),
  );
  const { clientId, clientSecret } = provider;
  if (provider.vendor === 'kubernetes' || clientSecret === undefined) {
    const why = provider.vendor === 'kubernetes' ? 'Nobody signs in at a cluster.' : 'The client has no secret.';
    return [...steps, { step: 'Client', outcome: 'skipped', message: why }];
  }
  await at(
    'Client',
    () => probeClient(metadata, { clientId, clientSecret }, { fetch }),
    (result) =>
      result.kind === 'accepted'
        ? { outcome: 'ok', message: `The provider accepts the client ${clientId} and its secret.` }
        : { outcome: 'unclear', message: result.message },
  );
  return steps;
}

function ownCa({ ca, caFile }: OpenIdProviderSettings): boolean {
  return ca !== undefined || caFile !== undefined;
}
