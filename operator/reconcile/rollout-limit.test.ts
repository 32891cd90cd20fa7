import { describe, expect, it, vi } from 'vitest';
import { RolloutLimit } from './rollout-limit.ts';

function limit(places = 2) {
  const clock = { ms: 0 };
  return { clock, limit: new RolloutLimit({ places, now: () => new Date(clock.ms) }) };
}
const nobody = () => undefined;

describe('the limit of rollouts', () => {
  it('gives as many places as there are', () => {
    const { limit: places } = limit();
    for (const key of ['a', 'b']) {
      expect(places.mayTake(key, nobody)).toBe(true);
      places.take(key);
    }
    expect(places.mayTake('c', nobody)).toBe(false);
  });
  it('lets who has a place go on', () => {
    const { limit: places } = limit(1);
    places.take('a');
    expect(places.mayTake('a', nobody)).toBe(true);
  });
  it('calls the one that waits longest when a place is free', () => {
    const { limit: places } = limit(1);
    const [first, second] = [vi.fn(), vi.fn()];
    places.take('a');
    places.mayTake('b', first);
    places.mayTake('c', second);
    places.release('a');
    expect(first).toHaveBeenCalledOnce();
    expect(second).not.toHaveBeenCalled();
  });
  it('takes rollouts that were under way, however many', () => {
    const { limit: places } = limit(1);
    for (const key of ['a', 'b', 'c']) places.take(key);
    expect(places.held).toBe(3);
    places.release('a');
    expect(places.mayTake('d', nobody)).toBe(false);
  });
  it('takes the place back from one that makes no progress for ten minutes', () => {
    const { limit: places, clock } = limit(1);
    places.take('a');
    clock.ms = 599_999;
    expect(places.mayTake('b', nobody)).toBe(false);
    clock.ms = 600_000;
    expect(places.mayTake('b', nobody)).toBe(true);
  });
  it('counts each replaced instance as progress', () => {
    const { limit: places, clock } = limit(1);
    places.take('a');
    clock.ms = 599_999;
    places.take('a');
    clock.ms = 900_000;
    expect(places.mayTake('b', nobody)).toBe(false);
  });
  it('forgets who waits and is gone', () => {
    const { limit: places } = limit(1);
    places.take('a');
    places.mayTake('b', nobody);
    places.release('b');
    expect(places.waiting).toBe(0);
  });
});
