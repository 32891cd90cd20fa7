import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { key } from '../store/keys.ts';
import type { Entry } from '../store/record-store.ts';
import { SuspectEvents } from './suspect-events.ts';

let revisions = 0;
const event = (): Entry => {
  revisions += 1;
  return {
    key: key('outbox', 'A:webhook', randomBytes(8), randomBytes(16)),
    value: Buffer.alloc(0),
    revision: revisions,
  };
};

const noneIsHeld = { isHeld: () => false, isHeldUp: () => false };

describe('suspected events', () => {
  it('are found behind other events of their object', () => {
    const suspects = new SuspectEvents();
    const [first, second, other] = [event(), event(), event()];
    suspects.onFailed(second, 'of-either');
    expect(suspects.plan([[first, second], [other]], true, noneIsHeld)).toEqual({
      probe: [other],
      together: [],
      alone: [[first, second]],
    });
  });

  it('let other parts of their object ask whether the target is back', () => {
    const suspects = new SuspectEvents();
    const [first, second, third, behind] = [event(), event(), event(), event()];
    const parts = new Map([
      [first, 'a'],
      [second, 'b'],
      [third, 'c'],
      [behind, 'a'],
    ]);
    for (let at = 0; at < 2; at += 1) suspects.onFailed(first, 'of-either');
    suspects.onFailed(third, 'of-either');
    const group = [first, second, third, behind];
    const options = { ...noneIsHeld, partOf: (one: Entry) => parts.get(one) };
    const apart = [third, first, behind];
    expect(suspects.plan([group], true, options)).toEqual({ probe: [second], together: [], alone: [apart] });
    parts.delete(second);
    expect(suspects.plan([group], true, options)).toEqual({ probe: group, together: [], alone: [] });
  });

  it('stay few where single events ask whether the target is back', () => {
    const suspects = new SuspectEvents();
    const all = Array.from({ length: 100 }, () => [event()]);
    const asked = new Set<Entry>();
    for (let round = 0; round < 3_000; round += 1) {
      const [failed] = suspects.plan(all, true, noneIsHeld).probe ?? [];
      if (failed === undefined) continue;
      asked.add(failed);
      suspects.onFailed(failed, 'of-target');
    }
    expect(suspects.plan(all, true, noneIsHeld).alone.length).toBeLessThanOrEqual(32);
    // Each of the others asks at its time.
    expect(asked.size).toBe(100);
  });

  it('leave each event of another window a chance to ask', () => {
    const suspects = new SuspectEvents();
    for (let at = 0; at < 32; at += 1) suspects.onFailed(event(), 'of-target');
    const window = [[event()], [event()]];
    const asked = new Set(Array.from({ length: 200 }, () => suspects.plan(window, true, noneIsHeld).probe));
    expect(asked).toEqual(new Set(window));
  });

  it('are poison events after three failures alone, and none for those in which the target may have gone away', () => {
    const suspects = new SuspectEvents();
    const one = event();
    for (let at = 0; at < 5; at += 1) expect(suspects.onFailed(one, 'of-either')).toBe(false);
    expect([1, 2, 3].map(() => suspects.onFailed(one, 'of-event'))).toEqual([false, false, true]);
    suspects.forget(one);
    expect(suspects.onFailed(one, 'of-event')).toBe(false);
  });

  it('are forgotten with the events that an administrator dropped', () => {
    const suspects = new SuspectEvents();
    const one = event();
    suspects.onFailed(one, 'of-target');
    suspects.forget(one);
    expect(suspects.plan([[one]], false, noneIsHeld).alone).toEqual([]);
  });

  it('leave probes to held events where nothing else waits', () => {
    const suspects = new SuspectEvents();
    const [failing, held] = [[event()], [event()]];
    for (const one of failing) suspects.onFailed(one, 'of-target');
    const options = { isHeld: (one: Entry) => held.includes(one), isHeldUp: () => false };
    const asked = new Set(Array.from({ length: 100 }, () => suspects.plan([failing, held], true, options).probe));
    expect(asked).toEqual(new Set([failing, held]));
  });
});
