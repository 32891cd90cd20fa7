import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { outboxKeys } from '../objects/events/outbox.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { commitOnce } from '../store/commits.ts';
import { key } from '../store/keys.ts';
import type { Entry } from '../store/record-store.ts';
import { encodeHeld } from './held-records.ts';
import { RecordedEvents } from './recorded-events.ts';

const eventOf = (at: number) => key('outbox', 'target', Buffer.from(`group${at}`), Buffer.from('event'));

/** Events with their records, in windows of one event each, and what each pass over them tried. */
async function recorded(count: number) {
  const records = new MemoryRecordStore();
  const events = new RecordedEvents({ records, monotonicClock: () => 0, maxMs: 1_000 });
  const keys = Array.from({ length: count }, (_, at) => eventOf(at));
  for (const [at, event] of keys.entries()) {
    const record = { since: at + 1, error: `reason ${at}` };
    await commitOnce(records, { put: [{ key: outboxKeys.held(event), value: encodeHeld(record) }] }, randomBytes);
    events.onFound(record);
  }
  /** One pass over the queue. Events of `taken` leave it. */
  const pass = async (taken: readonly number[] = []) => {
    const tried: number[] = [];
    events.beginPass();
    for (const [at, event] of keys.entries()) {
      await events.openWindow([{ key: event } as Entry]);
      if (events.recordOf(event) === undefined || events.isWaiting(event)) continue;
      tried.push(at);
      if (!taken.includes(at)) {
        events.onRefused();
        continue;
      }
      await commitOnce(records, { delete: [outboxKeys.held(event)] }, randomBytes);
      events.makeDue();
      events.remove(event, 'taken');
    }
    events.endPass(true);
    return tried;
  };
  const retry = async (at: number) => {
    const record = { since: at + 1, error: `reason ${at}`, retries: 1 };
    const event = eventOf(at);
    await commitOnce(records, { put: [{ key: outboxKeys.held(event), value: encodeHeld(record) }] }, randomBytes);
  };
  return { records, events, pass, retry };
}

it('the first refusal is that of the events which are still held', async () => {
  const { events, pass } = await recorded(3);
  expect(events.first).toEqual({ since: 1, error: 'reason 0' });
  await pass([0]);
  await pass();
  expect([events.count, events.first]).toEqual([2, { since: 2, error: 'reason 1' }]);
});

it('each pass tries one window of a target that refuses, and none until the time of the next attempts', async () => {
  const { pass } = await recorded(3);
  expect([await pass(), await pass(), await pass(), await pass(), await pass()]).toEqual([[0], [1], [2], [], []]);
});

it('a target that takes an event gets one window after the other at once, as long as it refuses the others', async () => {
  const { pass } = await recorded(4);
  for (let at = 0; at < 5; at += 1) await pass();
  expect(await pass()).toEqual([]);
  const { pass: other, events } = await recorded(4);
  for (let at = 0; at < 5; at += 1) await other();
  events.makeDue();
  expect([await other(), await other()]).toEqual([[0], [1]]);
});

it('a target that takes all of a window gets all windows in the next pass, until it refuses one', async () => {
  const all = [0, 1, 2, 3, 4];
  const { pass } = await recorded(5);
  expect([await pass(all), await pass(all)]).toEqual([[0], [1, 2, 3, 4]]);
  const { pass: other } = await recorded(5);
  expect([await other([0]), await other([0])]).toEqual([[0], [1]]);
});

it('an administrator gets another attempt for the events that were chosen, and for no others', async () => {
  const { pass, retry, events, records } = await recorded(4);
  for (let at = 0; at < 5; at += 1) await pass();
  const before = (await records.get(outboxKeys.held(eventOf(0))))?.revision ?? 0;
  await retry(2);
  events.askedAfter((await records.get(outboxKeys.held(eventOf(3))))?.revision ?? before);
  expect([await pass(), await pass()]).toEqual([[2], []]);
});
