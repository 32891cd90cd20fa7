import type { Batch, Key, RecordStore, Revision } from './record-store.ts';
import { StoreUnavailable } from './record-store.ts';

/** The final result of a commit. `revision` is absent if the acknowledgement was lost. */
export type Settled =
  { readonly kind: 'committed'; readonly revision?: Revision } | { readonly kind: 'conflict'; readonly key: Key };

/** The store cannot say whether the commit took effect. The caller must keep everything that the commit refers to. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

const ATTEMPTS = 5;

/**
 * Commits a batch and resolves a lost acknowledgement, so that the caller never takes its own commit for a conflict. Throws
 * `OutcomeUnknown` if the store cannot say what happened, and `StoreUnavailable` if nothing was changed.
 *
 * @example
 *     const outcome = await commitOnce(records, { put: [{ key: key('bucket', 'photos'), value }] }, randomBytes);
 *     if (outcome.kind === 'conflict') throw new Error('another writer was first');
 */
export async function commitOnce(
  records: Pick<RecordStore, 'commit' | 'outcome'>,
  batch: Omit<Batch, 'id'>,
  random: (size: number) => Buffer,
): Promise<Settled> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const id = random(16).toString('hex');
    const outcome = await records.commit({ ...batch, id });
    if (outcome.kind !== 'unknown') return outcome;
    if ((await settle(records, id)) === 'committed') return { kind: 'committed' };
  }
  throw new StoreUnavailable('unreachable', `${ATTEMPTS} commits in a row did not reach the record store`);
}

async function settle(records: Pick<RecordStore, 'outcome'>, id: string): Promise<'committed' | 'not-committed'> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await records.outcome(id);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (attempt === ATTEMPTS || error.reason === 'closed') {
        throw new OutcomeUnknown(`the record store cannot say whether commit ${id} took effect: ${error.message}`, {
          cause: error,
        });
      }
    }
  }
}
