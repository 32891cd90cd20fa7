import { type AdminClient, jsonLines } from '../../admin-client.ts';
import { plainId } from './join-versions.ts';
import { neverSent, type SourceState } from './expected-versions.ts';
import { compareNames } from '../../data/entries/join-entries.ts';

/** A line of `replication/diff`. */
interface DiffLine {
  readonly object: string;
  readonly versionId: string;
  readonly rStatus?: string;
  readonly targets?: Readonly<Record<string, { readonly rStatus?: string; readonly drStatus?: string }>> | null;
  readonly refused?: string;
}

/** The states of the versions of one key at the source, and the removals that wait there. */
interface KeyStates {
  readonly stateOf: (versionId: string) => SourceState;
  readonly isRemovalWaiting: (versionId: string) => boolean;
}

/** Reads the states of the versions of a key at one target; with `removals` also what the queue of removals has. */
export async function keyStates(
  admin: AdminClient,
  { bucket, arn, key }: { readonly bucket: string; readonly arn: string; readonly key: string },
  { removals }: { readonly removals: boolean },
): Promise<KeyStates> {
  const states = new Map<string, SourceState>();
  const waiting = new Set<string>();
  const query = { bucket, prefix: key, arn, verbose: 'true' };
  const { body } = await admin.stream({ method: 'POST', call: 'replication/diff', query });
  for await (const { object, versionId, rStatus, targets, refused } of jsonLines<DiffLine>(body)) {
    const at = targets?.[arn];
    const isRemoval = at?.drStatus !== undefined;
    // Versions come in the order of their keys, and removals after them.
    if (!removals && !isRemoval && compareNames(object, key) > 0) break;
    if (object !== key) continue;
    if (isRemoval) waiting.add(plainId(versionId));
    else states.set(plainId(versionId), { status: rStatus, atTarget: at?.rStatus, refused });
  }
  return {
    stateOf: (versionId) => states.get(plainId(versionId)) ?? neverSent,
    isRemovalWaiting: (versionId) => waiting.has(plainId(versionId)),
  };
}
