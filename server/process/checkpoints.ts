import { randomBytes } from 'node:crypto';
import { fencedRecords, type Lease } from '../replicas/lease.ts';
import { repeated } from '../replicas/repeated.ts';
import { type CheckpointPlace, writeCheckpoint } from '../store/checkpoint.ts';
import { isStoreError } from '../store/store-error.ts';
import type { ThreadStores } from './thread-stores.ts';

/** Milliseconds between two checkpoints. One costs a commit, and a small file or object beside the bodies. */
const intervalMs = 60_000;
/** Milliseconds that a stop waits for a checkpoint. */
const gracePeriodMs = 1_000;

interface CheckpointLog {
  warn(fields: object, message: string): void;
}

/** Writes checkpoints while this server holds the lease, until it is stopped. */
export function runCheckpoints(
  { stores }: { readonly stores: Pick<ThreadStores, 'records'> },
  lease: Pick<Lease, 'hold'>,
  log: CheckpointLog,
  marker: CheckpointPlace,
): { stop(): Promise<void> } {
  let isStopping = false;
  const round = async () => {
    const hold = lease.hold();
    if (hold === undefined || isStopping) return;
    await writeCheckpoint({ records: fencedRecords(stores.records, hold), marker }, randomBytes);
  };
  const rounds = repeated(intervalMs, round, (error) => {
    if (isStopping || isStoreError(error, 'lease-lost', 'read-only')) return;
    log.warn({ err: error }, 'the records and the bodies got no checkpoint; the next round tries again');
  });
  return {
    async stop() {
      isStopping = true;
      await rounds.stop(gracePeriodMs);
    },
  };
}
