import { setTimeout as sleep } from 'node:timers/promises';

interface Crd {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null };
}

/**
 * Resolves when each of these CRDs is established. `kubectl wait` gives up on one whose conditions are null, as they are for a moment
 * after it was made.
 */
export async function untilEstablished(
  kubectl: (args: readonly string[]) => Promise<string>,
  crds: readonly string[],
): Promise<void> {
  for (const crd of crds) {
    for (const end = Date.now() + 30_000; ; await sleep(200)) {
      const { status } = JSON.parse(await kubectl(['get', `crd/${crd}`, '-o', 'json'])) as Crd;
      if (status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') === true) break;
      if (Date.now() > end) throw new Error(`the CRD ${crd} is not established after 30 s`);
    }
  }
}
