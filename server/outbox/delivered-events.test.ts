import { describe, expect, it } from 'vitest';
import type { Batch, Key } from '../store/record-store.ts';
import { key } from '../store/keys.ts';
import { DeliveredEvents } from './delivered-events.ts';

const event = (at: number): Key => key('event', String(at));

/** Removes events whose outcomes are numbers. `conflicts` are the outcomes that conflict, with how often. */
function setUp(conflicts: Record<number, number> = {}, broken: readonly number[] = []) {
  const commits: (readonly Key[])[] = [];
  const settled: number[] = [];
  const commit = (batch: Omit<Batch, 'id'>) => {
    commits.push(batch.delete ?? []);
    return Promise.resolve(true);
  };
  const delivered = new DeliveredEvents<number>({
    commit,
    settle: async (outcomes, whole) => {
      if (outcomes.some((outcome) => broken.includes(outcome))) throw new Error('of one event');
      const met = outcomes.find((outcome) => (conflicts[outcome] ?? 0) > 0);
      if (met !== undefined) {
        conflicts[met] = (conflicts[met] ?? 0) - 1;
        return false;
      }
      settled.push(...outcomes);
      return whole({ put: [{ key: key('state'), value: Buffer.alloc(1) }] });
    },
    isOfEvent: (error) => error instanceof Error && error.message === 'of one event',
  });
  return { delivered, commits, settled };
}

describe('delivered events', () => {
  it('leave their queue in one commit, with what they change', async () => {
    const { delivered, commits, settled } = setUp();
    for (let at = 0; at < 5; at += 1) delivered.add(event(at), at);
    await delivered.end();
    expect(commits).toEqual([[0, 1, 2, 3, 4].map(event)]);
    expect(settled).toEqual([0, 1, 2, 3, 4]);
  });

  it('are removed by halves after a conflict, each once', async () => {
    const { delivered, commits, settled } = setUp({ 2: 4 });
    for (let at = 0; at < 5; at += 1) delivered.add(event(at), at);
    await delivered.end();
    expect(settled.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
    expect(commits.flat()).toHaveLength(5);
  });

  it('stay in their queue where their change fails, or conflicts again and again', async () => {
    const { delivered, settled } = setUp({ 1: Infinity }, [3]);
    for (let at = 0; at < 5; at += 1) delivered.add(event(at), at);
    await delivered.end();
    expect(settled.toSorted((a, b) => a - b)).toEqual([0, 2, 4]);
  });

  it('fail with the store', async () => {
    const delivered = new DeliveredEvents<void>({
      commit: () => Promise.reject(new Error('no space')),
      isOfEvent: () => false,
    });
    delivered.add(event(1), undefined);
    await expect(delivered.end()).rejects.toThrow('no space');
  });
});
