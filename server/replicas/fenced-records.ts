import type { Batch, Outcome, RecordStore } from '../store/record-store.ts';
import type { Hold } from './lease.ts';
import { LeaseLost } from './lease.ts';

/** The records for one round of work under a lease: every commit fails with `LeaseLost` once the term is over, whoever has noticed. */
export function fencedRecords(records: RecordStore, hold: Hold): RecordStore {
  const { fence, signal } = hold;
  return {
    get: (key) => records.get(key),
    getAll: (keys) => records.getAll(keys),
    scan: (range) => records.scan(range),
    ...(records.scanPages && { scanPages: records.scanPages.bind(records) }),
    outcome: (id) => records.outcome(id),
    // Not this store's to close.
    close: () => Promise.resolve(),
    async commit(batch: Batch): Promise<Outcome> {
      if (signal.aborted) throw new LeaseLost();
      if (fence.length === 0) return records.commit(batch);
      const outcome = await records.commit({ ...batch, expect: [...fence, ...(batch.expect ?? [])] });
      if (outcome.kind === 'conflict' && fence.some(({ key }) => key.equals(outcome.key))) throw new LeaseLost();
      return outcome;
    },
  };
}
