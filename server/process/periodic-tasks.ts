import type { Logger } from '../../platform/logger.ts';
import {
  removeQueuedBlobs,
  ORPHAN_GRACE_PERIOD,
  REMOVAL_DELAY,
  removeOrphanBlobs,
} from '../objects/garbage-collection.ts';
import { fencedRecords, LeaseLost, type Hold, type Lease } from '../replicas/lease.ts';
import { repeated } from '../replicas/repeated.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import { noKeySource } from '../encryption/key-source.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import { rewrapRound } from '../maintenance/rewrap/rewrap.ts';
import { sealOldDigests } from '../maintenance/rewrap/seal-old-digests.ts';
import { scrubRound } from '../maintenance/verify/scrub.ts';
import type { Services } from './services.ts';
import { StoreUnavailable } from '../store/record-store.ts';
import { usageRounds } from '../observability/usage/count-usage.ts';
import type { PersonCheck } from '../federation/user-status-check.ts';

/**
 * Milliseconds between rounds. Blobs that were replaced wait a minute anyway; orphans a day. Rounds for removals come twice in that
 * minute: what one round puts aside, as the parts of an aborted upload, is due before another round or right after it, by a
 * millisecond more or less.
 */
const every = {
  removals: 30_000,
  orphans: 3_600_000,
  credentials: 600_000,
  scrub: 60_000,
  keys: 5_000,
  digests: 60_000,
  usage: 2_000,
} as const;

/** Milliseconds. A round that is cut off is repeated after the next start, so that a stop need not wait for a long one. */
const patience = 1_000;

/**
 * Milliseconds by which the clocks of servers, and of a shared file system, may differ: what one wrote down another sweeps so much
 * later. Clients whose clocks differ by more are refused, too.
 */
const clockSkew = 15 * 60_000;

/**
 * Removes what nothing refers to any more and looks through what is there, round after round, while this server holds the lease, until it
 * is stopped.
 */
export function keepTidy(
  services: Pick<Services, 'stores' | 'blobs' | 'access' | 'keys' | 'digests' | 'objects'>,
  lease: Lease,
  log: Logger,
  { scrubBytesPerSecond, scanner }: Pick<ServerSettings, 'scrubBytesPerSecond' | 'scanner'>,
  tasks: Pick<TaskReport, 'run'>,
): { stop(): Promise<void> } {
  const { stores, blobs, access, keys, digests, objects } = services;
  const stopping = new AbortController();
  const skew = stores.shared ? clockSkew : 0;
  const common = { lease, log, tasks, signal: stopping.signal };
  const repeat = (task: keyof typeof every, what: string, work: Work) =>
    repeatWork({ ...common, task, intervalMs: every[task], what, work });
  const sweeping = (hold: Hold) => ({ records: fencedRecords(stores.records, hold), blobs, now: Date.now() });
  const countUsage = usageRounds({ ...scanner, log });
  const rounds = [
    repeat('removals', 'blobs that were given up', (hold) =>
      removeQueuedBlobs({ ...sweeping(hold), delay: REMOVAL_DELAY + skew }),
    ),
    repeat('orphans', 'blobs that never had an owner', (hold) =>
      removeOrphanBlobs({ ...sweeping(hold), grace: ORPHAN_GRACE_PERIOD + skew }),
    ),
    // Not fenced: what has expired may be removed twice.
    repeat('credentials', 'temporary credentials that expired', async () => ({
      removed: await access.temporary.sweep(),
    })),
    // One round is all that an administrator asked for.
    repeatWork({
      ...common,
      task: 'keys',
      intervalMs: every.keys,
      what: 'keys',
      failed: 'could not change the keys of objects; the next round goes on',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        const signal = AbortSignal.any([hold.signal, stopping.signal]);
        await rewrapRound({ records, keys, objects, log, signal });
        return { removed: 0 };
      },
    }),
    // One pass over all objects that older servers wrote, and another that finds nothing.
    repeatWork({
      ...common,
      task: 'digests',
      intervalMs: every.digests,
      what: 'digests',
      failed: 'could not seal the digests that older servers left readable; the next round goes on',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        const signal = AbortSignal.any([hold.signal, stopping.signal]);
        await sealOldDigests({ records, digests, hasKeys: keys !== noKeySource, log, signal });
        return { removed: 0 };
      },
    }),
    // A caller that asks for a count waits for the next round. One that failed may have read everything: it is not repeated at once.
    repeatWork({
      ...common,
      task: 'usage',
      intervalMs: every.usage,
      retryMs: 60_000,
      what: 'usage',
      failed: 'could not count objects and bytes',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        await countUsage({ records, signal: AbortSignal.any([hold.signal, stopping.signal]) });
        return { removed: 0 };
      },
    }),
    // One round is a whole pass over all objects; the next is due a day after it began.
    ...(scrubBytesPerSecond === 0
      ? []
      : [
          repeatWork({
            ...common,
            task: 'scrub',
            intervalMs: every.scrub,
            what: 'damage',
            failed: 'could not look for damaged objects',
            async work(hold) {
              await scrubRound({
                records: fencedRecords(stores.records, hold),
                blobs,
                keys,
                bytesPerSecond: scrubBytesPerSecond,
                log,
                signal: AbortSignal.any([hold.signal, stopping.signal]),
              });
              return { removed: 0 };
            },
          }),
        ]),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(rounds.map((round) => round.stop()));
    },
  };
}

/** The holder that took over does it all; and what is put aside is left as it is. */
function isExpected(error: unknown): boolean {
  return error instanceof LeaseLost || (error instanceof StoreUnavailable && error.reason === 'read-only');
}

type Work = (hold: Hold) => Promise<{ readonly removed: number }>;

function repeatWork(options: {
  readonly lease: Lease;
  readonly log: Logger;
  readonly tasks: Pick<TaskReport, 'run'>;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
  readonly task: string;
  readonly intervalMs: number;
  /** The interval by default. */
  readonly retryMs?: number;
  readonly what: string;
  readonly failed?: string;
  readonly work: Work;
}): { stop(): Promise<void> } {
  const { lease, log, tasks, signal, task, intervalMs, retryMs = intervalMs, what, work } = options;
  const { failed = `could not remove ${what}` } = options;
  let hold: Hold | undefined;
  const isNoFailure = (error: unknown) => signal.aborted || hold?.signal.aborted === true || isExpected(error);
  const round = async () => {
    const held = lease.hold();
    hold = held;
    if (held === undefined) return;
    const run = async () => {
      const { removed } = await work(held);
      if (removed > 0) log.info({ removed }, `removed ${what}`);
    };
    await tasks.run(task, retryMs, run, isNoFailure);
  };
  const rounds = repeated(intervalMs, round, (error) => {
    if (!isNoFailure(error)) log.error({ err: error, task, retryInMs: retryMs }, failed);
  });
  return { stop: () => rounds.stop(patience) };
}

/** The part of the logger that is used here. */
interface CheckingLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Milliseconds. A round that is cut off is repeated after the next start. */

/** Asks about everyone who has credentials, round after round, while this server holds the lease, until it is stopped. */
export function keepChecking(
  check: Pick<PersonCheck, 'run'>,
  lease: Pick<Lease, 'hold'>,
  log: CheckingLog,
  intervalMs: number,
  tasks: Pick<TaskReport, 'run'>,
): { stop(): Promise<void> } {
  if (intervalMs === 0) return { stop: () => Promise.resolve() };
  const stopping = new AbortController();
  let hold: Hold | undefined;
  const ended = () => stopping.signal.aborted || hold?.signal.aborted === true;
  const round = async () => {
    const held = lease.hold();
    hold = held;
    if (held === undefined) return;
    const run = async () => {
      const { checked, cutOff } = await check.run(undefined, AbortSignal.any([held.signal, stopping.signal]));
      if (cutOff.length > 0) log.info({ checked, cutOff: cutOff.length }, 'people who are gone lost their access');
    };
    await tasks.run('people', intervalMs, run, ended);
  };
  const rounds = repeated(intervalMs, round, (error) => {
    if (!ended()) log.error({ err: error, retryInMs: intervalMs }, 'people could not be looked up');
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop(patience);
    },
  };
}
