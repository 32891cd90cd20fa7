import { randomBytes } from 'node:crypto';
import type { Logger } from '../../platform/output/logger.ts';
import { fencedRecords, type Hold, type Lease } from '../cluster/lease.ts';
import { repeated } from '../cluster/repeated.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import { isPaused, watchPause } from '../maintenance/task-pauses.ts';
import { type CheckpointPlace, markEarlierRecords } from '../store/checkpoint.ts';
import { readUnpromoted } from '../store/promotion.ts';
import type { RecordStore } from '../store/record-store.ts';
import { isStoreError } from '../store/store-error.ts';

/** Milliseconds that a stop waits for a round. The next start repeats an aborted round. */
export const roundGracePeriodMs = 1_000;

/** What a round of a task works with. */
export interface Round {
  /** The records, which refuse the changes of a server that lost the lease. */
  readonly records: RecordStore;
  /** Aborts when the lease is lost, an administrator pauses the task, or the server stops. */
  readonly signal: AbortSignal;
}

/** Work that the holder of the lease repeats. Administrators see and pause it by its name. */
export type PeriodicTask = {
  readonly name: string;
  /** Milliseconds between rounds. */
  readonly intervalMs: number;
  /** Milliseconds after a failed round; the interval by default. */
  readonly retryMs?: number;
  /** A store that was restored leaves the task until it is promoted. */
  readonly onlyPromoted?: true;
} & (
  | { readonly removes: string; readonly work: (round: Round) => Promise<{ readonly removed: number }> }
  | { readonly failed: string; readonly work: (round: Round) => Promise<unknown> }
);

interface RepeatOptions {
  readonly records: RecordStore;
  /** The place of the checkpoint beside the bodies, where the records may be put back to an earlier moment beneath this server. */
  readonly beside: CheckpointPlace | undefined;
  readonly lease: Lease;
  readonly log: Logger;
  readonly tasks: Pick<TaskReport, 'run'>;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

/** Repeats a task while this server holds the lease. */
export function repeatTask(task: PeriodicTask, options: RepeatOptions): { stop(): Promise<void> } {
  const { records, beside, lease, log, tasks, stopping } = options;
  const { name, intervalMs, retryMs = intervalMs } = task;
  let hold: Hold | undefined;
  const isNoFailure = (error: unknown) => stopping.aborted || hold?.signal.aborted === true || isExpected(error);
  const round = async () => {
    const held = lease.hold();
    if (held === undefined || (await isPaused(records, name, Date.now()))) return;
    if (task.onlyPromoted === true && (await readUnpromoted(records)) !== undefined) return;
    const pausing = watchPause(records, name);
    hold = { ...held, signal: AbortSignal.any([held.signal, pausing.signal]) };
    const current = hold;
    const run = async () => {
      const fenced = fencedRecords(records, current);
      // Records that were put back lack the bodies of today, which would be removed as those of none.
      if ('removes' in task && beside !== undefined)
        await markEarlierRecords({ records: fenced, marker: beside }, Date.now, randomBytes);
      await workOn(task, log, { records: fenced, signal: AbortSignal.any([current.signal, stopping]) });
    };
    await tasks.run(name, retryMs, run, isNoFailure).finally(() => pausing.end());
  };
  const failed = 'removes' in task ? `could not remove ${task.removes}` : task.failed;
  const rounds = repeated(intervalMs, round, (error) => {
    if (!isNoFailure(error)) log.error({ err: error, task: name, retryInMs: retryMs }, failed);
  });
  return { stop: () => rounds.stop(roundGracePeriodMs) };
}

async function workOn(task: PeriodicTask, log: Logger, round: Round): Promise<void> {
  if (!('removes' in task)) {
    await task.work(round);
    return;
  }
  const { removed } = await task.work(round);
  if (removed > 0) log.info({ removed }, `removed ${task.removes}`);
}

/** A lost lease is expected, since the new holder does all tasks. So are read-only stores. */
function isExpected(error: unknown): boolean {
  return isStoreError(error, 'lease-lost', 'read-only');
}
