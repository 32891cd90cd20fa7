import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves when each of these CRDs is established. `kubectl wait` gives up on one that has no conditions yet, which is so for a moment
 * after it was made.
 */
export async function untilEstablished(
  kubectl: (args: readonly string[]) => Promise<string>,
  crds: readonly string[],
): Promise<void> {
  const status = 'jsonpath={.status.conditions[?(@.type=="Established")].status}';
  for (const crd of crds) {
    for (const end = Date.now() + 30_000; (await kubectl(['get', `crd/${crd}`, '-o', status])) !== 'True';) {
      if (Date.now() > end) throw new Error(`the CRD ${crd} is not established after 30 s`);
      await sleep(200);
    }
  }
}
