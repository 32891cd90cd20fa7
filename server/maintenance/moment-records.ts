import { randomBytes } from 'node:crypto';
import { commitOnce } from '../store/commits.ts';
import { endOf, key, prefixOf } from '../store/keys.ts';
import { putUnpromoted } from '../store/promotion.ts';
import type { RecordStore } from '../store/record-store.ts';

/**
 * Records that belong to the servers and the moment, and not to the data: live servers and their lease, holds on removals, a read-only mark,
 * pauses, what the tasks and the deliveries reported, and metrics. No snapshot, restored store or copy takes them along.
 */
export const momentPrefixes: readonly Buffer[] = [
  prefixOf('background'),
  prefixOf('hold'),
  prefixOf('live'),
  prefixOf('metrics'),
  key('system', 'copy'),
  prefixOf('system', 'pause'),
  key('system', 'read-only'),
];

const BATCH = 500;

/** Makes the records those of a store that was restored: without what belongs to the moment, and marked until it is promoted. */
export async function leaveMoment(
  records: RecordStore,
  { now, taken }: { readonly now: number; readonly taken: string | undefined },
): Promise<void> {
  for (const prefix of momentPrefixes) {
    for (;;) {
      const found = await Array.fromAsync(records.scan({ start: prefix, end: endOf(prefix), limit: BATCH }));
      if (found.length === 0) break;
      const gone = found.flatMap((item) => (item.kind === 'entry' ? [item.key] : []));
      await commitOnce(records, { delete: gone }, randomBytes);
    }
  }
  const mark = putUnpromoted({ since: new Date(now).toISOString(), reason: 'restored', taken });
  await commitOnce(records, { put: [mark] }, randomBytes);
}
