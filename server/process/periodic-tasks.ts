import { randomBytes } from 'node:crypto';
import { isStoreError } from '../store/store-error.ts';
import type { Logger } from '../../platform/logger.ts';
import {
  removeQueuedBlobs,
  removeTieredBodies,
  REMOVAL_DELAY,
  removeOrphanBlobs,
} from '../objects/garbage-collection.ts';
import { ORPHAN_GRACE_PERIOD } from '../objects/orphan-grace-period.ts';
import type { BlobOwner } from '../objects/contract/objects.ts';
import { compactSegments } from '../objects/segments/compact-segments.ts';
import { type Pace, pace, unlimited } from '../maintenance/pace.ts';
import { packBodies } from '../maintenance/pack-bodies.ts';
import type { BlobId } from '../store/blob-store.ts';
import { fencedRecords, type Hold, type Lease } from '../replicas/lease.ts';
import { repeated } from '../replicas/repeated.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import { noKeySource } from '../encryption/key-source.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import { isPaused, watchPause } from '../maintenance/task-pauses.ts';
import { rewrapRound } from '../maintenance/rewrap/rewrap.ts';
import { sealOldDigests } from '../maintenance/rewrap/seal-old-digests.ts';
import { threadLockClock } from '../objects/attributes/object-lock.ts';
import { decideForAsker } from '../auth/asker.ts';
import { batchRounds } from '../maintenance/batch/batch-rounds.ts';
import { inventoryRounds } from '../maintenance/inventory/inventory-rounds.ts';
import { lifecycleRounds } from '../maintenance/lifecycle/lifecycle-rounds.ts';
import { tierRounds } from '../maintenance/tiers/tier-rounds.ts';
import { scrubRound } from '../maintenance/verify/scrub.ts';
import { batchRemotes } from '../replication/batch-remote.ts';
import type { Services } from './services.ts';
import { readUnpromoted } from '../store/promotion.ts';
import type { RecordStore } from '../store/record-store.ts';
import { usageRounds } from '../observability/usage/count-usage.ts';
import type { UserStatusCheck } from '../federation/user-status-check.ts';

/**
 * Milliseconds between rounds. Replaced blobs wait a minute, and orphans a day. Removal rounds run twice a minute: the blobs of one round,
 * such as the parts of an aborted upload, are due shortly before or after the next round.
 */
const intervalsMs = {
  removals: 30_000,
  orphans: 3_600_000,
  segments: 30_000,
  pack: 60_000,
  credentials: 600_000,
  scrub: 60_000,
  keys: 5_000,
  digests: 60_000,
  usage: 2_000,
  lifecycle: 10_000,
  batch: 2_000,
  inventory: 10_000,
  tiers: 2_000,
  'tier-removals': 30_000,
} as const;

/**
 * Tasks that act outside of the store, or remove objects by rules of another day. A store that was restored leaves them until it is
 * promoted. What removes bodies asks for itself.
 */
const onlyPromoted: ReadonlySet<string> = new Set(['tiers', 'batch', 'lifecycle']);

/** Milliseconds that a stop waits for a round. The next start repeats an aborted round. */
const gracePeriodMs = 1_000;

/**
 * The maximum difference in milliseconds between the clocks of the servers and of a shared file system. Garbage collection waits for this
 * time too. The server refuses clients whose clocks differ by more.
 */
const maxClockSkewMs = 15 * 60_000;

/**
 * Runs garbage collection, scrubbing and the other periodic tasks while this server holds the lease, until it is stopped. All of them that
 * walk the records take what they read from `reads`, so that several walks at the same time read no faster than one.
 */
export function runPeriodicTasks(
  services: Pick<
    Services,
    'stores' | 'blobs' | 'access' | 'keys' | 'digests' | 'objects' | 'tierConfigurations' | 'sealed' | 'events'
  >,
  lease: Lease,
  log: Logger,
  {
    scrubBytesPerSecond,
    maxGarbage,
    compactionBytesPerSecond,
    packsBodies,
    scanner,
    lifecycle,
  }: Pick<
    ServerSettings,
    'scrubBytesPerSecond' | 'maxGarbage' | 'compactionBytesPerSecond' | 'packsBodies' | 'scanner' | 'lifecycle'
  >,
  tasks: Pick<TaskReport, 'run'>,
  reads: Pace,
): { stop(): Promise<void> } {
  const { stores, blobs, access, keys, digests, objects } = services;
  const stopping = new AbortController();
  const skew = stores.shared ? maxClockSkewMs : 0;
  const common = { records: stores.records, lease, log, tasks, signal: stopping.signal };
  const repeat = (task: keyof typeof intervalsMs, what: string, work: Work) =>
    repeatTask({ ...common, task, intervalMs: intervalsMs[task], what, work });
  const sweeping = (hold: Hold) => ({ records: fencedRecords(stores.records, hold), blobs, now: Date.now() });
  const compaction = {
    maxGarbage,
    unmovable: new Set<BlobId>(),
    move: (blob: BlobId, owner: BlobOwner) => objects.moveBody(blob, owner),
    moves: compactionBytesPerSecond > 0,
    paced: compactionBytesPerSecond > 0 ? pace(compactionBytesPerSecond) : unlimited,
  };
  const countUsage = usageRounds({ ...scanner, reads, log, events: services.events });
  const applyLifecycle = lifecycleRounds({
    ...lifecycle,
    reads,
    log,
    // A wall clock that is set forward by mistake must not expire everything.
    clock: () => threadLockClock.earliest(),
  });
  const runBatchJobs = batchRounds({
    reads,
    changesPerSecond: lifecycle.removalsPerSecond,
    log,
    decide: decideForAsker(access, () => new Date()),
    replication: { open: batchRemotes(objects), sealed: services.sealed },
  });
  const writeInventories = inventoryRounds({
    dayMs: lifecycle.dayMs,
    reads,
    log,
    clock: () => threadLockClock.earliest(),
  });
  const workOnTiers = tierRounds({ log, random: randomBytes });
  const tierNames = async () =>
    new Map((await services.tierConfigurations.all()).map(({ tier: { number, name } }) => [number, name]));
  const rounds = [
    repeat('removals', 'blobs that were given up', (hold) =>
      removeQueuedBlobs({ ...sweeping(hold), delay: REMOVAL_DELAY + skew }),
    ),
    repeat('tier-removals', 'bodies in tiers that were given up', (hold) =>
      removeTieredBodies({
        ...sweeping(hold),
        delay: REMOVAL_DELAY + skew,
        tierNames,
        onAway: (tier, error) => {
          log.warn({ err: error, tier }, 'bodies cannot be removed from a tier; the next round tries it');
        },
      }),
    ),
    // A round moves and restores what waits. An empty queue costs three short scans.
    repeatTask({
      ...common,
      task: 'tiers',
      intervalMs: intervalsMs.tiers,
      retryMs: 10_000,
      what: 'tiers',
      failed: 'could not move bodies to tiers, or restore them; the next round goes on',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        await workOnTiers({ records, objects, signal: AbortSignal.any([hold.signal, stopping.signal]) });
        return { removed: 0 };
      },
    }),
    repeat('orphans', 'blobs that never had an owner', (hold) =>
      removeOrphanBlobs({ ...sweeping(hold), grace: ORPHAN_GRACE_PERIOD + skew }),
    ),
    repeat('segments', 'segments without bodies', (hold) => {
      const signal = AbortSignal.any([hold.signal, stopping.signal]);
      return compactSegments({ ...sweeping(hold), ...compaction, log, skew, signal });
    }),
    // One round covers all objects. The next one is due a day after its end.
    ...(packsBodies && compaction.moves
      ? [
          repeatTask({
            ...common,
            task: 'pack',
            intervalMs: intervalsMs.pack,
            what: 'bodies',
            failed: 'could not move bodies to segments; the next round goes on',
            async work(hold) {
              const records = fencedRecords(stores.records, hold);
              const signal = AbortSignal.any([hold.signal, stopping.signal]);
              await packBodies({ ...compaction, records, blobs, reads, log, signal });
              return { removed: 0 };
            },
          }),
        ]
      : []),
    // This task needs no fence: removing expired credentials twice does no harm.
    repeat('credentials', 'temporary credentials that expired', async () => ({
      removed: await access.temporary.sweep(),
    })),
    // One round does all that an administrator asked for.
    repeatTask({
      ...common,
      task: 'keys',
      intervalMs: intervalsMs.keys,
      what: 'keys',
      failed: 'could not change the keys of objects; the next round goes on',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        const signal = AbortSignal.any([hold.signal, stopping.signal]);
        await rewrapRound({ records, keys, objects, log, signal });
        return { removed: 0 };
      },
    }),
    // One round covers all objects of older servers. The next one finds none.
    repeatTask({
      ...common,
      task: 'digests',
      intervalMs: intervalsMs.digests,
      what: 'digests',
      failed: 'could not seal the digests that older servers left readable; the next round goes on',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        const signal = AbortSignal.any([hold.signal, stopping.signal]);
        await sealOldDigests({ records, digests, hasKeys: keys !== noKeySource, reads, log, signal });
        return { removed: 0 };
      },
    }),
    // A request for a count waits for the next round. A failed round may have read everything, so its retry waits.
    repeatTask({
      ...common,
      task: 'usage',
      intervalMs: intervalsMs.usage,
      retryMs: 60_000,
      what: 'usage',
      failed: 'could not count objects and bytes',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        await countUsage({ records, signal: AbortSignal.any([hold.signal, stopping.signal]) });
        return { removed: 0 };
      },
    }),
    // A bucket is walked once a day, and when its rules change.
    repeatTask({
      ...common,
      task: 'lifecycle',
      intervalMs: Math.min(intervalsMs.lifecycle, lifecycle.dayMs / 4),
      retryMs: 60_000,
      what: 'lifecycle',
      failed: 'could not apply lifecycle rules; the next round goes on',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        await applyLifecycle({ records, objects, signal: AbortSignal.any([hold.signal, stopping.signal]) });
        return { removed: 0 };
      },
    }),
    // A round runs the jobs that wait.
    repeatTask({
      ...common,
      task: 'batch',
      intervalMs: intervalsMs.batch,
      retryMs: 10_000,
      what: 'batch jobs',
      failed: 'could not run a batch job; the next round goes on',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        await runBatchJobs({ records, objects, keys, signal: AbortSignal.any([hold.signal, stopping.signal]) });
        return { removed: 0 };
      },
    }),
    // A report is due once a day or a week, and when its configuration changes.
    repeatTask({
      ...common,
      task: 'inventory',
      intervalMs: Math.min(intervalsMs.inventory, lifecycle.dayMs / 4),
      retryMs: 60_000,
      what: 'inventory',
      failed: 'could not write the inventories of buckets; the next round goes on',
      async work(hold) {
        const records = fencedRecords(stores.records, hold);
        await writeInventories({ records, objects, signal: AbortSignal.any([hold.signal, stopping.signal]) });
        return { removed: 0 };
      },
    }),
    // One round covers all objects. The next one is due a day after its start.
    ...(scrubBytesPerSecond === 0
      ? []
      : [
          repeatTask({
            ...common,
            task: 'scrub',
            intervalMs: intervalsMs.scrub,
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

/** A lost lease is expected, since the new holder does all tasks. So are read-only stores. */
function isExpected(error: unknown): boolean {
  return isStoreError(error, 'lease-lost', 'read-only');
}

type Work = (hold: Hold) => Promise<{ readonly removed: number }>;

function repeatTask(options: {
  readonly records: Pick<RecordStore, 'get'>;
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
  const { records, lease, log, tasks, signal, task, intervalMs, retryMs = intervalMs, what, work } = options;
  const { failed = `could not remove ${what}` } = options;
  let hold: Hold | undefined;
  const isNoFailure = (error: unknown) => signal.aborted || hold?.signal.aborted === true || isExpected(error);
  const round = async () => {
    const held = lease.hold();
    if (held === undefined || (await isPaused(records, task, Date.now()))) return;
    if (onlyPromoted.has(task) && (await readUnpromoted(records)) !== undefined) return;
    const pausing = watchPause(records, task);
    hold = { ...held, signal: AbortSignal.any([held.signal, pausing.signal]) };
    const current = hold;
    const run = async () => {
      const { removed } = await work(current);
      if (removed > 0) log.info({ removed }, `removed ${what}`);
    };
    await tasks.run(task, retryMs, run, isNoFailure).finally(() => pausing.end());
  };
  const rounds = repeated(intervalMs, round, (error) => {
    if (!isNoFailure(error)) log.error({ err: error, task, retryInMs: retryMs }, failed);
  });
  return { stop: () => rounds.stop(gracePeriodMs) };
}

/** The methods of the logger that this task uses. */
interface UserCheckLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Milliseconds that a stop waits for a round. The next start repeats an aborted round. */

/** Runs the user status check periodically while this server holds the lease, until it is stopped. */
export function runUserChecks(
  check: Pick<UserStatusCheck, 'run'>,
  lease: Pick<Lease, 'hold'>,
  log: UserCheckLog,
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
      const { checked, cutOff: revoked } = await check.run(undefined, AbortSignal.any([held.signal, stopping.signal]));
      if (revoked.length > 0) log.info({ checked, cutOff: revoked.length }, 'access of external users was revoked');
    };
    await tasks.run('people', intervalMs, run, ended);
  };
  const rounds = repeated(intervalMs, round, (error) => {
    if (!ended()) log.error({ err: error, retryInMs: intervalMs }, 'people could not be looked up');
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop(gracePeriodMs);
    },
  };
}
