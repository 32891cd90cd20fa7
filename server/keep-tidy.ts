import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../platform/logger.ts';
import { drainRemovals, sweepOrphans } from './objects/sweeper.ts';
import type { Services } from './services.ts';

/** Milliseconds between rounds. Blobs that were replaced wait a minute anyway; orphans a day. */
const every = { removals: 60_000, orphans: 3_600_000, credentials: 600_000 } as const;

/** Milliseconds. A round that is cut off is repeated after the next start, so that a stop need not wait for a long one. */
const patience = 1_000;

/** Removes what nothing refers to any more, round after round, until it is stopped. */
export function keepTidy(
  services: Pick<Services, 'records' | 'blobs' | 'access'>,
  log: Logger,
): { stop(): Promise<void> } {
  const { records, blobs, access } = services;
  const rounds = [
    repeat(every.removals, 'blobs that were given up', () => drainRemovals({ records, blobs, now: Date.now() }), log),
    repeat(
      every.orphans,
      'blobs that never had an owner',
      () => sweepOrphans({ records, blobs, now: Date.now() }),
      log,
    ),
    repeat(
      every.credentials,
      'temporary credentials that expired',
      async () => ({ removed: await access.temporary.sweep() }),
      log,
    ),
  ];
  return {
    async stop() {
      await Promise.all(rounds.map((round) => round.stop()));
    },
  };
}

function repeat(
  intervalMs: number,
  what: string,
  work: () => Promise<{ readonly removed: number }>,
  log: Logger,
): { stop(): Promise<void> } {
  let running: Promise<void> | undefined;
  let stopped = false;
  const round = async () => {
    try {
      const { removed } = await work();
      if (removed > 0) log.info({ removed }, `removed ${what}`);
    } catch (error) {
      if (!stopped) log.error({ err: error, retryInMs: intervalMs }, `could not remove ${what}`);
    }
    running = undefined;
  };
  const timer = setInterval(() => {
    running ??= round();
  }, intervalMs);
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.race([running, sleep(patience, undefined, { ref: false })]);
    },
  };
}
