import type { CommandResult } from '../../harness/run-command.ts';
import { kubectl } from './team.ts';
import type { Team } from './team.ts';
import { until } from './until.ts';

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
