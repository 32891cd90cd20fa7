import { randomBytes } from 'node:crypto';
import { fencedRecords, type Lease } from '../replicas/lease.ts';
import { repeated } from '../replicas/repeated.ts';
import { compareCounts } from '../maintenance/verify/compare-counts.ts';
import { type CheckpointPlace, markUnpromoted, writeCheckpoint } from '../store/checkpoint.ts';
import { readUnpromoted, unpromotedState } from '../store/promotion.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isStoreError } from '../store/store-error.ts';
import type { ThreadStores } from './thread-stores.ts';

/** Milliseconds between two checkpoints. One costs a commit, and a small file or object beside the bodies. */
const intervalMs = 60_000;
/** Milliseconds before the first one. */
const firstMs = 2_000;
/** Milliseconds that a stop waits for a checkpoint. */
const gracePeriodMs = 1_000;

/** The state of the store is no failure of the task, but administrators look for it there. */
class UnpromotedError extends Error {}

interface CheckpointLog {
  warn(fields: object, message: string): void;
}

/** Databases with more records than this are not compared at a start: that would read all keys for some seconds. `verify` compares them. */
const maxCompared = 1_000_000;

/** Marks a store whose records are not those that were counted. A file of records was compared before it was opened. */
async function markLostRecords(records: RecordStore): Promise<void> {
  if (records.counted === undefined) return;
  const counts = (await records.counts?.()) ?? [];
  if (counts.reduce((sum, count) => sum + count.records, 0) > maxCompared) return;
  for await (const _issue of compareCounts(records)) {
    await markUnpromoted(records, 'lost-records', Date.now, randomBytes);
    return;
  }
}

/**
 * Writes checkpoints while this server holds the lease, until it is stopped. A store that must be promoted gets none: the task says why, in
 * the list of tasks, on the health page and in `admin info`.
 */
export function runCheckpoints(
  { stores }: { readonly stores: Pick<ThreadStores, 'records' | 'checks'> },
  lease: Pick<Lease, 'hold'>,
  log: CheckpointLog,
  tasks: Pick<TaskReport, 'run'>,
  marker: CheckpointPlace,
): { stop(): Promise<void> } {
  let isStopping = false;
  let isCompared = false;
  const round = async () => {
    const hold = lease.hold();
    if (hold === undefined || isStopping) return;
    await tasks.run(
      'checkpoint',
      intervalMs,
      async () => {
        if (!isCompared) await markLostRecords(stores.records);
        isCompared = true;
        const unpromoted = await readUnpromoted(stores.records);
        if (unpromoted !== undefined) throw new UnpromotedError(unpromotedState(unpromoted));
        // Beneath a folder that is not mounted, a checkpoint would be that of nothing.
        await stores.checks.bodies();
        await writeCheckpoint({ records: fencedRecords(stores.records, hold), marker }, randomBytes);
      },
      isExpected,
    );
  };
  const isExpected = (error: unknown) => isStopping || isStoreError(error, 'lease-lost', 'read-only');
  const rounds = repeated(intervalMs, round, (error) => {
    if (isExpected(error)) return;
    if (error instanceof UnpromotedError) return log.warn({ event: 'unpromoted' }, error.message);
    log.warn({ err: error }, 'the records and the bodies got no checkpoint; the next round tries again');
  });
  // The lease is known some moments after the start.
  const first = setTimeout(() => void rounds.now(), firstMs).unref();
  return {
    async stop() {
      clearTimeout(first);
      isStopping = true;
      await rounds.stop(gracePeriodMs);
    },
  };
}
