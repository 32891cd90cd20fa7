import { SettingReader } from '../../platform/settings/setting-source.ts';
import { ldapContradictions, settingsWithoutEffect } from '../../platform/settings/settings-without-effect.ts';
import { ResourceError } from '../api/resource-error.ts';
import type { EnvironmentVariable } from '../runtime/contract/workload.ts';
import type { AcceptedProvider } from './render-identity-provider.ts';

/** Replaces the content of a Secret, in the form that the settings with a form need. */
const placeholder = 'postgres://secret';

/**
 * Checks what the settings of a server say together, as the server does at its start. A server that is running goes on; one that got such
 * settings would not start. Errors with a `ResourceError` that lists every problem.
 */
export function checkEnvironment(environment: readonly EnvironmentVariable[]): void {
  const variables = new Map(
    environment.map(({ name, value }) => [
      name,
      value.parts.map((part) => (typeof part === 'string' ? part : placeholder)).join(''),
    ]),
  );
  const reader = new SettingReader({ variables, readFile: () => placeholder });
  const problems = settingsWithoutEffect(reader);
  if (variables.has('SVC_IDENTITY_LDAP_SERVER_ADDR')) problems.push(...ldapContradictions(reader));
  if (problems.length > 0) throw new ResourceError('InvalidSettings', problems.join('; '));
}

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
