import { StoreError } from '../store/store-error.ts';
import type { Expectation, Batch, Outcome, RecordStore } from '../store/record-store.ts';

/** Decides which server does the background work of all servers: garbage collection and scrubbing. */
export interface Lease {
  /** Returns undefined unless this server holds the lease. Call it again for every round of work. */
  hold(): Hold | undefined;
  /** Releases the lease, so that another server need not wait until it expires. */
  close(): Promise<void>;
}

/** One term of holding the lease. */
export interface Hold {
  /** Grows with every term. */
  readonly generation: number;
  /**
   * Every commit of the work must expect this: a holder that wakes up after a long pause then changes nothing. `fencedRecords` adds it to
   * all commits of a store. It is empty if the store has a single server.
   */
  readonly fence: readonly Expectation[];
  /** Aborted when the term ends. The work stops at its next step. */
  readonly signal: AbortSignal;
}

/** Returns the error of work that has lost its lease to another server. */
export function leaseLost(): StoreError {
  return new StoreError('lease-lost', 'another server does the background work now');
}

/** The lease of a server that does not share its record store. */
export function soleLease(): Lease {
  const ended = new AbortController();
  return {
    hold: () => (ended.signal.aborted ? undefined : { generation: 0, fence: [], signal: ended.signal }),
    close: () => {
      ended.abort(leaseLost());
      return Promise.resolve();
    },
  };
}

/** Wraps the records for one round of work under a lease. Every commit fails with `StoreError` lease-lost once the term is over. */
export function fencedRecords(records: RecordStore, hold: Hold): RecordStore {
  const { fence, signal } = hold;
  return {
    get: (key) => records.get(key),
    getAll: (keys) => records.getAll(keys),
    scan: (range) => records.scan(range),
    ...(records.scanPages && { scanPages: records.scanPages.bind(records) }),
    outcome: (id) => records.outcome(id),
    // The owner of the wrapped store closes it.
    close: () => Promise.resolve(),
    async commit(batch: Batch): Promise<Outcome> {
      if (signal.aborted) throw leaseLost();
      if (fence.length === 0) return records.commit(batch);
      const outcome = await records.commit({ ...batch, expect: [...fence, ...(batch.expect ?? [])] });
      if (outcome.kind === 'conflict' && fence.some(({ key }) => key.equals(outcome.key))) throw leaseLost();
      return outcome;
    },
  };
}
