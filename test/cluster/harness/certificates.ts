import { kubectl } from './team.ts';
import type { Team } from './team.ts';
import { until } from './until.ts';

/** The certificates that the operator made for the team, but its authority. */
export async function certificatesOf(team: Team): Promise<readonly string[]> {
  const found = await kubectl.list('secrets', team.namespace, 'app.kubernetes.io/managed-by=coffer-operator');
  return found
    .filter(({ metadata, data }) => data?.['tls.crt'] !== undefined && metadata.name !== 'keys-authority')
    .map(({ metadata, data }) => `${metadata.name} ${data?.['tls.crt']}`);
}

/** Has every certificate of the tenant and its key service made anew; resolves when the pods have had the time to read them. */
export async function renewCertificates(team: Team): Promise<void> {
  const old = await certificatesOf(team);
  const rotated = `coffer.dev/rotatedAt=${new Date().toISOString()}`;
  await kubectl.run(['annotate', '--overwrite', 'tenant/demo', 'kms/keys', rotated, '--namespace', team.namespace]);
  await until(
    'every certificate to be new',
    async () => {
      const now = await certificatesOf(team);
      return now.length > 0 && now.every((each) => !old.includes(each)) ? true : undefined;
    },
    { timeoutMs: 240_000, otherwise: () => team.describe() },
  );
  await team.untilSettled();
  // Until the pods have the files and read them.
  await new Promise((resolve) => {
    setTimeout(resolve, 30_000);
  });
}
