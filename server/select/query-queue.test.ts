import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QueryQueue } from './query-queue.ts';

const limits = { running: 2, runningOfAccount: 1, waiting: 6, waitingOfAccount: 3 };

interface TestQuery {
  readonly account: string;
  /** `waits`, `runs`, or the code of its error. */
  state: string;
  leave: () => void;
  gone: boolean;
}

/** Enters a queue. The state of the query follows. */
function entering(queue: QueryQueue, account: string): TestQuery {
  const query: TestQuery = { account, state: 'waits', leave: () => undefined, gone: false };
  void (async () => {
    try {
      query.leave = await queue.enter({ account, gone: () => query.gone });
      query.state = 'runs';
    } catch (error) {
      query.state = (error as { code: string }).code;
    }
  })();
  return query;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the queue of queries', () => {
  it('runs a query of a second account while the first one waits for itself', async () => {
    const queue = new QueryQueue(limits);
    const many = Array.from({ length: 3 }, () => entering(queue, 'a'));
    const other = entering(queue, 'b');
    await settled();
    expect(many.map(({ state }) => state)).toEqual(['runs', 'waits', 'waits']);
    expect(other.state).toBe('runs');
  });

  it('refuses the queries of an account that has too many, and takes those of others', async () => {
    const queue = new QueryQueue(limits);
    const many = Array.from({ length: 5 }, () => entering(queue, 'a'));
    await settled();
    expect(many.at(-1)?.state).toBe('Busy');
    const other = entering(queue, 'b');
    await settled();
    expect(other.state).toBe('runs');
  });

  it('does not start a query whose client has left', async () => {
    const queue = new QueryQueue(limits);
    const first = entering(queue, 'a');
    const second = entering(queue, 'a');
    const third = entering(queue, 'a');
    await settled();
    second.gone = true;
    first.leave();
    await settled();
    expect([second.state, third.state]).toEqual(['RequestTimeout', 'runs']);
  });

  it('forgets those who left where it would be full', async () => {
    const queue = new QueryQueue(limits);
    entering(queue, 'a');
    const left = Array.from({ length: 3 }, () => entering(queue, 'a'));
    await settled();
    for (const one of left) one.gone = true;
    const next = entering(queue, 'a');
    await settled();
    expect(left.map(({ state }) => state)).toEqual(Array.from({ length: 3 }, () => 'RequestTimeout'));
    expect(next.state).toBe('waits');
  });

  it('frees the slot of a query once', async () => {
    const queue = new QueryQueue(limits);
    const query = entering(queue, 'a');
    await settled();
    query.leave();
    query.leave();
    const more = ['a', 'b', 'c'].map((account) => entering(queue, account));
    await settled();
    expect(more.map(({ state }) => state)).toEqual(['runs', 'runs', 'waits']);
  });

  it('never runs more than it may, and leaves no slot empty for which a query waits', async () => {
    const step = fc.record({ account: fc.constantFrom('a', 'b', 'c'), leaves: fc.boolean(), goes: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const queue = new QueryQueue(limits);
        const queries: TestQuery[] = [];
        for (const { account, leaves, goes } of steps) {
          const of = (state: string) => queries.filter((one) => one.state === state);
          if (leaves && of('runs').length > 0) {
            const [running] = of('runs');
            running?.leave();
            if (running) running.state = 'ended';
          } else {
            queries.push(entering(queue, account));
          }
          await settled();
          const runs = of('runs');
          expect(runs.length).toBeLessThanOrEqual(limits.running);
          expect(new Set(runs.map((one) => one.account)).size).toBe(runs.length);
          const startable = of('waits').filter((one) => !one.gone && !runs.some((run) => run.account === one.account));
          if (runs.length < limits.running) expect(startable).toEqual([]);
          const [waiting] = of('waits');
          if (goes && waiting) waiting.gone = true;
        }
      }),
      { numRuns: 200 },
    );
  });
});
