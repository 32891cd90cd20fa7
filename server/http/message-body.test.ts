import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pace } from './message-body.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Asks for turns, and returns the numbers of those that were given. */
function ask(pace: Pace, count: number): number[] {
  const given: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const turn = pace.turn();
    if (turn === undefined) given.push(index);
    else void turn.then(() => given.push(index));
  }
  return given;
}

it('gives the first turn at once, and then one for each interval, in order', async () => {
  const given = ask(new Pace({ intervalMs: 10, maxWaiting: 100 }), 4);
  expect(given).toEqual([0]);
  await vi.advanceTimersByTimeAsync(9);
  expect(given).toEqual([0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(given).toEqual([0, 1]);
  await vi.advanceTimersByTimeAsync(20);
  expect(given).toEqual([0, 1, 2, 3]);
});

it('makes nobody wait whose turn comes later than an interval after the last one', async () => {
  const pace = new Pace({ intervalMs: 10, maxWaiting: 100 });
  ask(pace, 2);
  await vi.advanceTimersByTimeAsync(10);
  // The turn that was given just now counts.
  expect(ask(pace, 1)).toEqual([]);
  await vi.advanceTimersByTimeAsync(20);
  expect(vi.getTimerCount()).toBe(0);
  expect(ask(pace, 1)).toEqual([0]);
});

it('keeps no more than its number of callers waiting', () => {
  expect(ask(new Pace({ intervalMs: 10, maxWaiting: 2 }), 5)).toEqual([0, 3, 4]);
});
