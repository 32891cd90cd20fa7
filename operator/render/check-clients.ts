import { ResourceError } from '../api/resource-error.ts';
import type { AcceptedProvider } from './render-identity-provider.ts';

/** Refuses two providers with one client, whose ID names the role. Errors with a `ResourceError`. */
export function checkClients(providers: readonly AcceptedProvider[]): void {
  const enabled = providers.map(({ provider }) => provider).filter(({ spec }) => spec.enabled);
  for (const [at, { metadata, spec }] of enabled.entries()) {
    const twin = enabled
      .slice(0, at)
      .find((other) => other.metadata.name !== metadata.name && other.spec.clientId === spec.clientId);
    if (twin === undefined) continue;
    throw new ResourceError(
      'InvalidSettings',
      `the IdentityProviders ${twin.metadata.name} and ${metadata.name} have the same clientId "${spec.clientId}": make a client for each`,
    );
  }
}
