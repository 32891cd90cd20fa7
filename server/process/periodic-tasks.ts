import { randomBytes } from 'node:crypto';
import type { Logger } from '../../platform/output/logger.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import { decideForAsker } from '../auth/asker.ts';
import type { Lease } from '../cluster/lease.ts';
import { noKeySource } from '../encryption/key-source.ts';
import type { TaskReport } from '../maintenance/background-tasks.ts';
import { batchRounds } from '../maintenance/batch/batch-rounds.ts';
import { inventoryRounds } from '../maintenance/inventory/inventory-rounds.ts';
import { lifecycleRounds } from '../maintenance/lifecycle/lifecycle-rounds.ts';
import { type Pace, pace, unlimited } from '../maintenance/pace.ts';
import { packBodies } from '../maintenance/pack-bodies.ts';
import { rewrapRound } from '../maintenance/rewrap/rewrap.ts';
import { sealOldDigests } from '../maintenance/rewrap/seal-old-digests.ts';
import { tierRounds } from '../maintenance/tiers/tier-rounds.ts';
import { scrubRound } from '../maintenance/verify/scrub.ts';
import { threadLockClock } from '../objects/contract/lock-clock.ts';
import type { BlobOwner } from '../objects/contract/objects.ts';
import {
  removeOrphanBlobs,
  removeQueuedBlobs,
  removeTieredBodies,
  REMOVAL_DELAY,
} from '../objects/garbage-collection/garbage-collection.ts';
import { ORPHAN_GRACE_PERIOD } from '../objects/garbage-collection/orphan-grace-period.ts';
import { compactSegments } from '../objects/segments/compact-segments.ts';
import { usageRounds } from '../observability/usage/count-usage.ts';
import { batchRemotes } from '../replication/batch-remote.ts';
import type { BlobId } from '../store/blob-store.ts';
import type { CheckpointPlace } from '../store/checkpoint.ts';
import { type PeriodicTask, repeatTask } from './repeat-task.ts';
import type { Services } from './services.ts';

/**
 * The maximum difference in milliseconds between the clocks of the servers and of a shared file system. Garbage collection waits for this
 * time too. The server refuses clients whose clocks differ by more.
 */
const maxClockSkewMs = 15 * 60_000;

/** A wall clock that is set forward by mistake must not expire everything. */
const clock = () => threadLockClock.earliest();

type TaskServices = Pick<
  Services,
  'stores' | 'blobs' | 'access' | 'keys' | 'digests' | 'objects' | 'tierConfigurations' | 'sealed' | 'events'
>;

type TaskSettings = Pick<
  ServerSettings,
  'scrubBytesPerSecond' | 'maxGarbage' | 'compactionBytesPerSecond' | 'packsBodies' | 'scanner' | 'lifecycle'
>;

interface PeriodicTaskOptions {
  readonly lease: Lease;
  readonly log: Logger;
  readonly settings: TaskSettings;
  readonly tasks: Pick<TaskReport, 'run'>;
  /** All tasks that walk the records take what they read from here, so that several walks at the same time read no faster than one. */
  readonly reads: Pace;
  /** Absent before the server has joined it. */
  readonly deployment: { readonly marker: CheckpointPlace } | undefined;
}

/** Runs garbage collection, scrubbing and the other periodic tasks while this server holds the lease, until it is stopped. */
export function runPeriodicTasks(
  services: TaskServices,
  { lease, log, settings, tasks, reads, deployment }: PeriodicTaskOptions,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { records, shared } = services.stores;
  // Another program cannot put back the records of an engine that is in this process.
  const options = {
    records,
    beside: shared ? deployment?.marker : undefined,
    lease,
    log,
    tasks,
    stopping: stopping.signal,
  };
  const rounds = periodicTasks(services, settings, { log, reads }).map((task) => repeatTask(task, options));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(rounds.map((round) => round.stop()));
    },
  };
}

/**
 * The table of the tasks. Replaced blobs wait a minute, and orphans a day. Removal rounds run twice a minute: the blobs of one round, such as
 * the parts of an aborted upload, are due shortly before or after the next round.
 *
 * `onlyPromoted` are those that act outside of the store, or remove objects by rules of another day. What removes bodies asks for itself.
 */
function periodicTasks(
  { stores, blobs, access, keys, digests, objects, tierConfigurations, sealed, events }: TaskServices,
  { scrubBytesPerSecond, maxGarbage, compactionBytesPerSecond, packsBodies, scanner, lifecycle }: TaskSettings,
  { log, reads }: Pick<PeriodicTaskOptions, 'log' | 'reads'>,
): readonly PeriodicTask[] {
  const skew = stores.shared ? maxClockSkewMs : 0;
  const { dayMs } = lifecycle;
  const compaction = {
    maxGarbage,
    unmovable: new Set<BlobId>(),
    move: (blob: BlobId, owner: BlobOwner) => objects.moveBody(blob, owner),
    moves: compactionBytesPerSecond > 0,
    paced: compactionBytesPerSecond > 0 ? pace(compactionBytesPerSecond) : unlimited,
  };
  const countUsage = usageRounds({ ...scanner, reads, log, events });
  const applyLifecycle = lifecycleRounds({ ...lifecycle, reads, log, clock });
  const runBatchJobs = batchRounds({
    reads,
    changesPerSecond: lifecycle.removalsPerSecond,
    log,
    decide: decideForAsker(access, () => new Date()),
    replication: { open: batchRemotes(objects), sealed },
  });
  const writeInventories = inventoryRounds({ dayMs, reads, log, clock });
  const workOnTiers = tierRounds({ log, random: randomBytes });
  const tierNames = async () =>
    new Map((await tierConfigurations.all()).map(({ tier: { number, name } }) => [number, name]));
  const onAway = (tier: string, error: unknown) => {
    log.warn({ err: error, tier }, 'bodies cannot be removed from a tier; the next round tries it');
  };
  return [
    {
      name: 'removals',
      intervalMs: 30_000,
      removes: 'blobs that were given up',
      work: ({ records }) => removeQueuedBlobs({ records, blobs, now: Date.now(), delay: REMOVAL_DELAY + skew }),
    },
    {
      name: 'tier-removals',
      intervalMs: 30_000,
      removes: 'bodies in tiers that were given up',
      work: ({ records }) =>
        removeTieredBodies({ records, blobs, now: Date.now(), delay: REMOVAL_DELAY + skew, tierNames, onAway }),
    },
    {
      // A round moves and restores what waits. An empty queue costs three short scans.
      name: 'tiers',
      intervalMs: 2_000,
      retryMs: 10_000,
      onlyPromoted: true,
      failed: 'could not move bodies to tiers, or restore them; the next round goes on',
      work: (round) => workOnTiers({ ...round, objects }),
    },
    {
      name: 'orphans',
      intervalMs: 3_600_000,
      removes: 'blobs that never had an owner',
      work: ({ records }) => removeOrphanBlobs({ records, blobs, now: Date.now(), grace: ORPHAN_GRACE_PERIOD + skew }),
    },
    {
      name: 'segments',
      intervalMs: 30_000,
      removes: 'segments without bodies',
      work: (round) => compactSegments({ ...round, ...compaction, blobs, now: Date.now(), log, skew }),
    },
    ...(packsBodies && compaction.moves
      ? [
          {
            // One round covers all objects. The next one is due a day after its end.
            name: 'pack',
            intervalMs: 60_000,
            failed: 'could not move bodies to segments; the next round goes on',
            work: (round) => packBodies({ ...round, ...compaction, blobs, reads, log }),
          } satisfies PeriodicTask,
        ]
      : []),
    {
      // This task needs no fence: removing expired credentials twice does no harm.
      name: 'credentials',
      intervalMs: 600_000,
      removes: 'temporary credentials that expired',
      work: async () => ({ removed: await access.temporary.sweep() }),
    },
    {
      // One round does all that an administrator asked for.
      name: 'keys',
      intervalMs: 5_000,
      failed: 'could not change the keys of objects; the next round goes on',
      work: (round) => rewrapRound({ ...round, keys, objects, log }),
    },
    {
      // One round covers all objects of older servers. The next one finds none.
      name: 'digests',
      intervalMs: 60_000,
      failed: 'could not seal the digests that older servers left readable; the next round goes on',
      work: (round) => sealOldDigests({ ...round, digests, hasKeys: keys !== noKeySource, reads, log }),
    },
    {
      // A request for a count waits for the next round. A failed round may have read everything, so its retry waits.
      name: 'usage',
      intervalMs: 2_000,
      retryMs: 60_000,
      failed: 'could not count objects and bytes',
      work: (round) => countUsage(round),
    },
    {
      // A bucket is walked once a day, and when its rules change.
      name: 'lifecycle',
      intervalMs: Math.min(10_000, dayMs / 4),
      retryMs: 60_000,
      onlyPromoted: true,
      failed: 'could not apply lifecycle rules; the next round goes on',
      work: (round) => applyLifecycle({ ...round, objects }),
    },
    {
      // A round runs the jobs that wait.
      name: 'batch',
      intervalMs: 2_000,
      retryMs: 10_000,
      onlyPromoted: true,
      failed: 'could not run a batch job; the next round goes on',
      work: (round) => runBatchJobs({ ...round, objects, keys }),
    },
    {
      // A report is due once a day or a week, and when its configuration changes.
      name: 'inventory',
      intervalMs: Math.min(10_000, dayMs / 4),
      retryMs: 60_000,
      failed: 'could not write the inventories of buckets; the next round goes on',
      work: (round) => writeInventories({ ...round, objects }),
    },
    ...(scrubBytesPerSecond === 0
      ? []
      : [
          {
            // One round covers all objects. The next one is due a day after its start.
            name: 'scrub',
            intervalMs: 60_000,
            failed: 'could not look for damaged objects',
            work: (round) => scrubRound({ ...round, blobs, keys, bytesPerSecond: scrubBytesPerSecond, log }),
          } satisfies PeriodicTask,
        ]),
  ];
}
