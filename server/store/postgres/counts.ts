import type { Key } from '../record-store.ts';

/**
 * Each commit notes how it changes the counts of the records, in the row that it inserts anyway: no writer waits for another, and no row more
 * is written. `garbage-collection.ts` adds what is noted to `coffer_counts` when it removes the row. So the counts are at each moment the
 * rows of `coffer_counts` and what the rows of `coffer_commits` note.
 *
 * The sum of a group is that of `hash * (revision % PRIME) % PRIME` over its records, which a statement can compute: it knows the revisions.
 */
export const PRIME = 2_147_483_647;

/** Returns the hash of a key: a number below `PRIME`, so that the product fits into 64 bits. */
export function keyHash(key: Key): number {
  let hash = 0x811c9dc5;
  // A loop: keys are short, and a call of a hash costs more than all of it.
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ (key[at] ?? 0), 0x01000193);
  return (hash >>> 0) % PRIME;
}
