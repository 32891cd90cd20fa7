import type { HashingPlace } from './objects/hashing/hashing.ts';
import type { Thread } from './threads.ts';

export { hashingPlaces } from './objects/hashing/hashing.ts';

/** Starts the hashing thread of each place when the first HTTP thread there has a large body: a server of small objects has none. */
export function startWhenNeeded(
  http: readonly Thread[],
  places: readonly HashingPlace[],
  start: (place: HashingPlace) => Thread,
): void {
  const started = new Map<HashingPlace['memory'], Thread>();
  for (const [index, place] of places.entries()) {
    http[index]?.on('hashing-needed', () => {
      if (!started.has(place.memory)) started.set(place.memory, start(place));
    });
  }
}
