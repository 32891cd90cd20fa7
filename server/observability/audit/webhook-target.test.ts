import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { MemoryLines, type WaitingLines } from './waiting-lines.ts';
import { answerError, WebhookTarget } from './webhook-target.ts';

interface Ledger {
  sent: number;
  dropped: number;
  waiting: number;
  isTaken?: boolean;
  readonly events: string[];
}

function target(
  post: (lines: readonly string[]) => Promise<void>,
  more: {
    readonly batchSize?: number;
    readonly maxRetries?: number;
    readonly queueSize?: number;
    readonly retryMs?: number;
    readonly queue?: WaitingLines;
  } = {},
) {
  const waits: number[] = [];
  const ledger: Ledger = { sent: 0, dropped: 0, waiting: 0, events: [] };
  const said = (fields: object) => {
    if ('event' in fields) ledger.events.push(String(fields.event));
  };
  const made = new WebhookTarget({
    name: 'webhook:SIEM',
    post,
    queue: more.queue ?? new MemoryLines({ lines: more.queueSize ?? 100, bytes: 1_000_000 }),
    batchSize: more.batchSize ?? 1,
    maxRetries: more.maxRetries ?? 0,
    retryMs: more.retryMs ?? 1,
    report: {
      sent: (entries) => (ledger.sent += entries),
      dropped: (entries) => (ledger.dropped += entries),
      waiting: (entries) => (ledger.waiting = entries),
      tried: (isTaken) => void (ledger.isTaken = isTaken),
    },
    log: { info: said, warn: said, error: said },
    // The time between two attempts is virtual.
    wait: async (ms) => {
      waits.push(ms);
      await endOfTurn();
    },
  });
  return { made, ledger, waits };
}

describe('a webhook of the audit log', () => {
  it('gets every entry, in batches of the size that is set', async () => {
    const got: (readonly string[])[] = [];
    const { made, ledger } = target(
      async (lines) => {
        got.push(lines);
      },
      { batchSize: 2 },
    );
    for (const line of ['a', 'b', 'c']) made.take(line);
    await made.close(60_000);
    expect(got).toEqual([['a', 'b'], ['c']]);
    expect(ledger).toEqual({ sent: 3, dropped: 0, waiting: 0, events: [], isTaken: true });
  });

  it('gets an entry again until it takes it; that it was away is said once, and that it is back', async () => {
    let calls = 0;
    const { made, ledger } = target(async () => {
      calls += 1;
      if (calls < 4) throw new Error('refused');
    });
    made.take('a');
    await made.close(60_000);
    expect(calls).toBe(4);
    expect(ledger).toEqual({ sent: 1, dropped: 0, waiting: 0, events: ['audit-away', 'audit-back'], isTaken: true });
  });

  it('gets an entry no more often than is set', async () => {
    let calls = 0;
    const { made, ledger } = target(
      () => {
        calls += 1;
        return Promise.reject(new Error('refused'));
      },
      { maxRetries: 2 },
    );
    made.take('a');
    await made.close(60_000);
    expect([calls, ledger.dropped, ledger.events.at(-1)]).toEqual([3, 1, 'audit-lost']);
  });

  it('gets an entry again after the time that is set, then after twice the time, and at most a minute later', async () => {
    const { made, waits } = target(() => Promise.reject(new Error('refused')), { retryMs: 3_000, maxRetries: 8 });
    made.take('a');
    await made.close(60_000);
    expect(waits).toEqual([3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000, 60_000]);
  });

  it('gets an entry after the time that is set where it took the one before', async () => {
    const answers = [false, false, true, false, true];
    const { made, ledger, waits } = target(
      async () => {
        if (answers.shift() !== true) throw new Error('refused');
      },
      { retryMs: 3_000 },
    );
    made.take('a');
    await vi.waitFor(() => expect(ledger.sent).toBe(1));
    made.take('b');
    await made.close(60_000);
    expect(waits).toEqual([3_000, 6_000, 3_000]);
    expect(ledger.sent).toBe(2);
  });

  it.each([400, 413, 422])('is asked five times about an entry that it answers by %i', async (status) => {
    let calls = 0;
    const { made, ledger } = target(() => {
      calls += 1;
      return Promise.reject(answerError(status));
    });
    made.take('a');
    await made.close(60_000);
    expect([calls, ledger.dropped]).toEqual([5, 1]);
  });

  it.each([302, 400, 401, 403, 404, 408, 413, 421, 422, 425, 429, 500, 503])(
    'gets an entry that a proxy before it has refused for a moment by %i',
    async (status) => {
      let refusals = 4;
      const { made, ledger } = target(() => (refusals-- > 0 ? Promise.reject(answerError(status)) : Promise.resolve()));
      made.take('a');
      await made.close(60_000);
      expect([ledger.sent, ledger.dropped]).toEqual([1, 0]);
    },
  );

  it('gets half of what is too large for it, down to single entries', async () => {
    const got: (readonly string[])[] = [];
    const { made, ledger } = target(
      async (lines) => {
        if (lines.length > 2 || lines.includes('large')) throw answerError(413);
        got.push(lines);
      },
      { batchSize: 8 },
    );
    for (const line of ['a', 'b', 'large', 'c', 'd', 'e']) made.take(line);
    await made.close(60_000);
    expect(got.flat().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect([ledger.sent, ledger.dropped]).toEqual([5, 1]);
  });

  it('leaves what it refuses in the folder of the queue, and gets the others', async () => {
    class Keeping extends MemoryLines {
      readonly kept: string[] = [];
      override async setAside(lines: readonly string[]): Promise<string> {
        this.kept.push(...lines);
        return '/queue/refused.ndjson';
      }
    }
    const queue = new Keeping({ lines: 10, bytes: 1_000 });
    const { made, ledger } = target(
      (lines) => (lines.includes('bad') ? Promise.reject(answerError(400)) : Promise.resolve()),
      { queue },
    );
    for (const line of ['a', 'bad', 'b']) made.take(line);
    await made.close(60_000);
    expect([queue.kept, ledger.sent, ledger.dropped]).toEqual([['bad'], 2, 1]);
    expect(ledger.events).toContain('audit-refused');
  });

  it('says whether it takes entries, and nothing before it was asked', async () => {
    let isAway = true;
    const { made, ledger } = target(() => (isAway ? Promise.reject(new Error('away')) : Promise.resolve()));
    expect(ledger.isTaken).toBeUndefined();
    made.take('a');
    await vi.waitFor(() => expect(ledger.isTaken).toBe(false));
    isAway = false;
    await made.close(60_000);
    expect(ledger.isTaken).toBe(true);
  });

  it('loses what there is no room for, counts it and says so once', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const { made, ledger } = target(() => answered, { queueSize: 2 });
    for (const line of ['a', 'b', 'c', 'd']) made.take(line);
    expect([ledger.dropped, ledger.events]).toEqual([2, ['audit-lost']]);
    answer();
    await made.close(60_000);
    expect(ledger.sent).toBe(2);
  });

  it('does not keep a server from ending while it is away', async () => {
    const { made, ledger } = target(() => Promise.reject(new Error('refused')));
    made.take('a');
    await made.close(1);
    expect([ledger.sent, ledger.waiting, ledger.events.at(-1)]).toEqual([0, 1, 'audit-undelivered']);
  });
});
