import type { Expectation, Batch, Outcome, RecordStore } from '../store/record-store.ts';

/** Who does the work that one server does for all: sweeping, scrubbing, delivering. */
export interface Lease {
  /** Undefined while another server holds the lease, or none can be told to. Ask anew for every round of work. */
  hold(): Hold | undefined;
  /** Gives the lease up at once, so that another server need not wait for it to run out. */
  close(): Promise<void>;
}

/** One term of holding the lease. */
export interface Hold {
  /** Grows with every term. */
  readonly generation: number;
  /**
   * To be expected by every commit of work that must not be done by two: a holder that was paused for long and woke up then changes
   * nothing. `fencedRecords` does it for a whole store. Empty where no other server can be.
   */
  readonly fence: readonly Expectation[];
  /** Aborted when the term ends: work stops at its next step. */
  readonly signal: AbortSignal;
}

/** Work was begun as the holder of the lease, which another server has now. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor() {
    super('another server does the background work now');
  }
}

/** Where the record store is this server's alone: nobody is there to share the work with. */
export function soleLease(): Lease {
  const ended = new AbortController();
  return {
    hold: () => (ended.signal.aborted ? undefined : { generation: 0, fence: [], signal: ended.signal }),
    close: () => {
      ended.abort(new LeaseLost());
      return Promise.resolve();
    },
  };
}

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
