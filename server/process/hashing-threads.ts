import type { Logger } from '../../platform/output/logger.ts';
import { type HashingPlace, isHashing } from '../objects/hashing/hashing.ts';

/** Milliseconds after which a hashing thread that did not start is started again, if a body needs it then. */
const retryMs = 10_000;

interface HttpThread {
  on(kind: 'hashing-needed', listener: () => void): void;
}

interface HashingThreadsOptions {
  readonly http: readonly HttpThread[];
  /** The place of each HTTP thread. */
  readonly places: readonly HashingPlace[];
  /** Starts the hashing thread of a place. May throw. */
  readonly start: (place: HashingPlace, onFailure: (message: string) => void) => void;
  /** Ends the process: a hashing thread has died, and bodies wait for it. */
  readonly fail: (message: string) => void;
  readonly log: Pick<Logger, 'warn'>;
  readonly clock?: () => number;
}

/**
 * Starts the hashing thread of a place when an HTTP thread there gets its first large body. A server of small objects has none. A thread that
 * does not start, since descriptors or processes are used up, is not a failure: the HTTP threads hash meanwhile.
 */
export function startHashingThreads({
  http,
  places,
  start,
  fail,
  log,
  clock = () => performance.now(),
}: HashingThreadsOptions): void {
  /** For each place that has a thread, or had an attempt: the time of the next attempt. */
  const next = new Map<HashingPlace['memory'], number>();
  const begin = (place: HashingPlace) => {
    if (clock() < (next.get(place.memory) ?? -Infinity)) return;
    next.set(place.memory, Infinity);
    const onFailure = (message: string) => {
      if (isHashing(place)) return fail(message);
      // A thread that cannot start reports an error and its end.
      if (next.get(place.memory) !== Infinity) return;
      next.set(place.memory, clock() + retryMs);
      log.warn({ event: 'hashing-thread' }, `${message}; the HTTP threads hash large bodies until it starts`);
    };
    try {
      start(place, onFailure);
    } catch (error) {
      onFailure(`the hashing thread cannot start: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  for (const [index, place] of places.entries()) http[index]?.on('hashing-needed', () => begin(place));
}
