import { commitOnce } from '../store/commit-once.ts';
import { within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import { decodeRecord, encodeRecord } from './records/record-format.ts';
import { recordKeys } from './records/record-keys.ts';

/** A hold that nobody renews ends by itself, milliseconds: its owner died. Longer than clocks of servers may differ. */
const LASTS = 30 * 60_000;
const RENEWED = 60_000;

/**
 * Keeps the sweeper from removing blobs, so that all that the records refer to at any moment from now on stays. A sweep that has
 * begun goes on: it removes only what nothing referred to when it began.
 */
export async function holdRemovals(
  records: RecordStore,
  { clock, random }: { readonly clock: () => number; readonly random: (size: number) => Buffer },
): Promise<{ release(): Promise<void> }> {
  const key = recordKeys.hold(random(16).toString('hex'));
  const renew = () => commitOnce(records, { put: [{ key, value: encodeRecord({ until: clock() + LASTS }) }] }, random);
  await renew();
  // A renewal that fails is made up for by the next one.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEWED).unref();
  return {
    async release() {
      clearInterval(timer);
      await commitOnce(records, { delete: [key] }, random);
    },
  };
}

/** Whether anybody holds removals at this moment. */
export async function removalsHeld(records: RecordStore, now: number): Promise<boolean> {
  for await (const item of records.scan(within('hold'))) {
    if (item.kind !== 'entry') continue;
    const { until } = decodeRecord(item.value, 'a hold on removals') as { until: number };
    if (until > now) return true;
  }
  return false;
}
