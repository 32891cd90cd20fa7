import { key } from '../store/keys.ts';
import type { Key } from '../store/record-store.ts';

/**
 * What servers write about themselves while they run. It means nothing to another deployment: a copy of the records may leave it out,
 * and one that has it does no harm, since whatever does not change any more counts as gone.
 */
export const liveKeys = {
  /** Who holds a lease: changes with each holder. */
  term: (lease: string): Key => key('live', 'lease', lease, 'term'),
  /** That its holder is there: changes with each renewal. */
  beat: (lease: string): Key => key('live', 'lease', lease, 'beat'),
  replica: (id: string): Key => key('live', 'replica', id),
} as const;
