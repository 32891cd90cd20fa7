import type { KubernetesObject } from './kubectl.ts';
import { type Team, kubectl } from './team.ts';
import type { CommandResult } from '../process/run-command.ts';
import { until } from './until.ts';

function isReady({ metadata, status }: KubernetesObject): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
  );
}

/** The fewest pods of a workload that were ready at any time while `change` ran. */
export async function fewestReadyWhile(team: Team, workload: string, change: () => Promise<void>): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      fewest = Math.min(fewest, (await team.pods(workload)).filter(isReady).length);
      await new Promise((resolve) => {
        setTimeout(resolve, 1_000);
      });
    }
  })();
  try {
    await change();
  } finally {
    over.abort();
    await watching;
  }
  return fewest;
}

/** The call that `kubectl drain` makes for each pod of a node; a disruption budget may refuse it. */
export function evict(team: Team, pod: string): Promise<CommandResult> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
  const path = `/api/v1/namespaces/${team.namespace}/pods/${pod}/eviction`;
  return kubectl.attempt(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
}

/**
 * Evicts every pod of a workload as a drain does: again while the budget refuses. The node stays open, since it is the only one: with
 * another, the pods would come back there.
 */
export async function drainPodsOf(team: Team, workload: string): Promise<void> {
  const before = await team.podUids(workload);
  for (const { metadata } of await team.pods(workload)) {
    await until(
      `the eviction of ${metadata.name}`,
      async () => {
        const { code, stderr } = await evict(team, metadata.name);
        if (code !== 0 && !stderr.includes('disruption budget')) throw new Error(stderr);
        return code === 0 ? true : undefined;
      },
      { timeoutMs: 120_000, otherwise: () => team.describe() },
    );
  }
  await team.untilReplaced(workload, before);
}

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
