import type { KubernetesObject } from './kubectl.ts';
import type { Team } from './team.ts';

export function isReady({ metadata, status }: KubernetesObject): boolean {
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
