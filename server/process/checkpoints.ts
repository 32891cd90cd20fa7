import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { randomBytes } from 'node:crypto';
import { fencedRecords, type Lease } from '../cluster/lease.ts';
import { repeated } from '../cluster/repeated.ts';
import { compareCounts } from '../maintenance/verify/compare-counts.ts';
import { type CheckpointPlace, markEarlierRecords, markUnpromoted, writeCheckpoint } from '../store/checkpoint.ts';
import { unpromotedState } from '../store/promotion.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isStoreError } from '../store/store-error.ts';
import type { ThreadStores } from './thread-stores.ts';

/** Milliseconds between two checkpoints. One costs a commit, and a small file or object beside the bodies. */
const intervalMs = 60_000;
/** Milliseconds between the looks for the lease, until the first one. */
const firstMs = 2_000;
/** Milliseconds that a stop waits for a checkpoint. */
const gracePeriodMs = 1_000;

/** The state of the store is not a failure of the task, but administrators look for it there. */
class UnpromotedError extends Error {}

type CheckpointLog = Pick<StructuredLog, 'warn'>;

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
    clearInterval(first);
    await tasks.run(
      'checkpoint',
      intervalMs,
      async () => {
        if (!isCompared) await markLostRecords(stores.records);
        isCompared = true;
        // Beneath a folder that is not mounted, a checkpoint would be that of nothing.
        await stores.checks.bodies();
        const both = { records: fencedRecords(stores.records, hold), marker };
        // The next checkpoint would make records fit that were put back since the last one.
        const unpromoted = await markEarlierRecords(both, Date.now, randomBytes);
        if (unpromoted !== undefined) throw new UnpromotedError(unpromotedState(unpromoted));
        await writeCheckpoint(both, randomBytes);
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
  // The lease is known some moments after the start, or is another server's for days. Records that are lost are told as soon as it is held.
  const first = setInterval(() => void rounds.now(), firstMs).unref();
  return {
    async stop() {
      clearInterval(first);
      isStopping = true;
      await rounds.stop(gracePeriodMs);
    },
  };
}
