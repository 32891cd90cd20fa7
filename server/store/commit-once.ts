import type { Batch, Key, RecordStore, Revision } from './record-store.ts';
import { StoreUnavailable } from './record-store.ts';

/** A commit whose acknowledgement is no longer in doubt; the revision is unknown where the acknowledgement was lost. */
export type Settled =
  { readonly kind: 'committed'; readonly revision?: Revision } | { readonly kind: 'conflict'; readonly key: Key };

/** Nobody can tell whether the commit took effect: what it refers to must be kept. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

const ATTEMPTS = 5;

/**
 * Commits a batch and settles a lost acknowledgement, so that the caller sees its own commit as its own. Throws `OutcomeUnknown`
 * when the store cannot tell either, `StoreUnavailable` when nothing was changed.
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
  throw new StoreUnavailable('unreachable', `${ATTEMPTS} commits in a row were lost on their way to the record store`);
}

async function settle(records: Pick<RecordStore, 'outcome'>, id: string): Promise<'committed' | 'not-committed'> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await records.outcome(id);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (attempt === ATTEMPTS || error.reason === 'closed') {
        throw new OutcomeUnknown(`whether commit ${id} took effect cannot be told: ${error.message}`, { cause: error });
      }
    }
  }
}
