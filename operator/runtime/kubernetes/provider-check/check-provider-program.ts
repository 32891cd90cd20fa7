import { readFile, writeFile } from 'node:fs/promises';
import { discover } from '../../../../platform/openid/discovery.ts';
import { createKeycloakAdmin } from '../../../../platform/openid/keycloak-admin.ts';
import { probeClient, probeRedirect } from '../../../../platform/openid/probe.ts';
import { checkProvider, type ProviderCheckSteps } from '../../../reconcile/identity-provider/check-provider.ts';
import { readRequest, writeAnswer } from './provider-check-message.ts';

/**
 * Runs `coffer-operator check-provider --request FILE`: it reads a provider and its client secret from FILE (JSON), checks the provider,
 * and writes the result as JSON to the termination message, /dev/termination-log. A broken provider is a result, not an error. Errors when
 * the request cannot be read or the result cannot be written.
 */
export async function checkProviderProgram(
  requestFile: string,
  terminationLog = '/dev/termination-log',
  steps: ProviderCheckSteps = { discover, probeClient, probeRedirect, createKeycloakAdmin },
): Promise<void> {
  const { provider, clientSecret } = readRequest(await readFile(requestFile, 'utf8'));
  await writeFile(terminationLog, writeAnswer(await checkProvider(provider, clientSecret, steps)));
}
