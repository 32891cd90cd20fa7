import { randomBytes } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import type { NotificationRule } from '../../protocol/s3/bucket-notification.ts';
import { decodeEvent } from '../objects/events/outbox.ts';
import type { Entry } from '../store/record-store.ts';
import { deliverQueue, type Delivery } from './deliver-queue.ts';
import { fullSince, readQueues, readState } from './queue-state.ts';
import { measureQueue, queuedTargets, readWindow } from './read-queue.ts';

const target = '_:webhook';
const rule: NotificationRule = {
  id: 'all',
  arn: 'arn:minio:sqs::_:webhook',
  target,
  events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'],
};

async function observed(rules: readonly NotificationRule[] = [rule]) {
  const test = testLayer();
  await test.layer.createBucket('bucket', { location: '' });
  await test.layer.putBucketNotification('bucket', rules, { test: false });
  return test;
}

const silent = { info: () => undefined, warn: () => undefined };
const bounds = { events: 1_000, bytes: 1_000_000, whenFull: 'drop' } as const;

const sizeOf = (event: Entry) => decodeEvent(event).object?.size;

/** Delivers until `until` holds. The time between two attempts, and between two measurements, is virtual. */
async function deliver(
  records: Parameters<typeof deliverQueue>[0]['records'],
  delivery: Delivery,
  until: () => void | Promise<void>,
  more: Partial<Pick<Parameters<typeof deliverQueue>[0], 'label' | 'log'>> = {},
) {
  const ended = new AbortController();
  const running = deliverQueue({
    records,
    target,
    delivery,
    bounds,
    signal: ended.signal,
    random: randomBytes,
    log: silent,
    wait: () => endOfTurn(),
    ...more,
  });
  await vi.waitFor(until, { timeout: 75_000, interval: 5 });
  ended.abort(new Error('the test is over'));
  await running.catch(() => undefined);
}

describe('the queue of a target', () => {
  it('is logged by its label when the target fails, and when it is back', async () => {
    const { layer, records } = await observed();
    await layer.putObject(put('bucket', 'key', 'text'));
    const lines: string[] = [];
    const say = (_fields: object, message: string) => void lines.push(message);
    let attempts = 0;
    const delivery = {
      deliver: () => ((attempts += 1) === 1 ? Promise.reject(new Error('full')) : Promise.resolve()),
      isOfEvent: () => false,
    };
    const label = { target: 'bucket b at example.org', events: 'changes' };
    await deliver(records, delivery, () => expect(lines).toHaveLength(2), { label, log: { info: say, warn: say } });
    expect(lines).toEqual([
      'changes cannot be delivered to bucket b at example.org: full; they wait',
      'bucket b at example.org takes changes again',
    ]);
  });

  it('gets an event in the commit that causes it, with the version and the ETag', async () => {
    const { layer, records } = await observed();
    const { etag } = await layer.putObject(put('bucket', 'a b', 'text'));
    const { groups } = await readWindow(records, target, { from: undefined, limit: 10 });
    expect(groups.flat().map(decodeEvent)).toEqual([
      expect.objectContaining({
        name: 's3:ObjectCreated:Put',
        rule: 'all',
        bucket: 'bucket',
        key: 'a b',
        object: expect.objectContaining({ size: 4, etag }) as object,
      }),
    ]);
  });

  it.each([
    ['another prefix', { ...rule, prefix: 'b' }],
    ['another suffix', { ...rule, suffix: 'b' }],
    ['other events', { ...rule, events: ['s3:ObjectAccessed:*'] }],
  ])('gets nothing of a rule with %s', async (_what, other) => {
    const { layer, records } = await observed([other]);
    await layer.putObject(put('bucket', 'a', 'text'));
    expect(await queuedTargets(records)).toEqual([]);
  });

  it('gets nothing for a write that is refused', async () => {
    const { layer, records } = await observed();
    await layer.putObject(put('bucket', 'a', 'text'));
    const refused = layer.putObject(put('bucket', 'a', 'more', { conditions: { ifNoneMatch: ['*'] } }));
    await expect(refused).rejects.toThrow();
    expect(await measureQueue(records, target, new AbortController().signal)).toMatchObject({ events: 1 });
  });

  it('is delivered in the order of the revisions of each object, through deletions', async () => {
    const { layer, records } = await observed();
    const expected: string[] = [];
    for (let round = 0; round < 40; round += 1) {
      await layer.putObject(put('bucket', 'one', 'x'.repeat(round)));
      expected.push(`Put ${round}`);
      if (round % 3 === 0) {
        await layer.deleteObject('bucket', 'one');
        expected.push('Delete');
      }
    }
    const got: string[] = [];
    await deliver(
      records,
      {
        deliver(entry) {
          const { name, object } = decodeEvent(entry);
          got.push(object === undefined ? 'Delete' : `${name.slice(-3)} ${object.size}`);
          return Promise.resolve();
        },
        isOfEvent: () => false,
      },
      async () => expect(await queuedTargets(records)).toEqual([]),
    );
    expect(got).toEqual(expected);
  });

  it('delivers again what a target that was away did not take, and names the failure without secrets', async () => {
    const { layer, records } = await observed();
    for (const key of ['a', 'b', 'c']) await layer.putObject(put('bucket', key, key));
    let isAway = true;
    const got = new Set<string>();
    const delivery: Delivery = {
      deliver(entry) {
        if (isAway) return Promise.reject(new Error('redis://:hunter2@cache refused'));
        got.add(decodeEvent(entry).key);
        return Promise.resolve();
      },
      isOfEvent: () => false,
    };
    await deliver(records, delivery, async () => {
      const state = await readState(records, target);
      if (isAway)
        expect(state).toMatchObject({ events: 3, failure: { error: 'redis://:[redacted]@cache refused', away: true } });
      isAway = false;
      expect([...got].sort()).toEqual(['a', 'b', 'c']);
      expect(await queuedTargets(records)).toEqual([]);
    });
  });

  it('delivers the events of other objects while one is rejected', async () => {
    const { layer, records } = await observed();
    for (const key of ['bad', 'bad', 'good']) await layer.putObject(put('bucket', key, key));
    const got: string[] = [];
    const delivery: Delivery = {
      deliver(entry: Entry) {
        const { key } = decodeEvent(entry);
        if (key === 'bad') return Promise.reject(new Error('rejected'));
        got.push(key);
        return Promise.resolve();
      },
      isOfEvent: () => true,
    };
    await deliver(records, delivery, () => expect(got).toEqual(['good']));
    expect(await measureQueue(records, target, new AbortController().signal)).toMatchObject({ events: 2 });
  });

  it('delivers the events of other parts of an object while one is rejected', async () => {
    const { layer, records } = await observed();
    for (const text of ['1', '22', '1', '333']) await layer.putObject(put('bucket', 'key', text));
    const delivered: unknown[] = [];
    const delivery = {
      deliver: (event: Entry) => {
        if (sizeOf(event) === 1) return Promise.reject(new Error('no'));
        delivered.push(sizeOf(event));
        return Promise.resolve();
      },
      isOfEvent: () => true,
      partOf: (event: Entry) => String(sizeOf(event)),
    };
    await deliver(records, delivery, async () => {
      expect(delivered).toEqual([2, 3]);
      expect(await measureQueue(records, target, new AbortController().signal)).toMatchObject({ events: 2 });
    });
  });

  it('is read in windows that hold all events of an object', async () => {
    const { layer, records } = await observed();
    for (let at = 0; at < 60; at += 1) await layer.putObject(put('bucket', `key ${at % 7}`, 'x'.repeat(at)));
    const sizes = new Map<string, number[]>();
    let from: Buffer | undefined;
    do {
      const window = await readWindow(records, target, { from, limit: 10 });
      for (const event of window.groups.flat().map(decodeEvent)) {
        sizes.set(event.key, [...(sizes.get(event.key) ?? []), event.object?.size ?? -1]);
      }
      from = window.next;
    } while (from !== undefined);
    expect(sizes.size).toBe(7);
    for (const [key, found] of sizes) {
      const first = Number(key.slice(4));
      expect(found).toEqual(Array.from({ length: found.length }, (_, at) => first + 7 * at));
    }
  });

  it.each([
    ['once where its page has more objects than one', 10, 1],
    ['twice where one object fills the page', 5, 2],
  ])('is read %s', async (_name, limit, reads) => {
    const { layer, records } = await observed();
    for (let at = 0; at < 60; at += 1) await layer.putObject(put('bucket', `key ${at % 10}`, 'x'.repeat(at)));
    let pages = 0;
    const paged = Object.assign(Object.create(records) as typeof records, {
      async *scanPages(range: Parameters<typeof records.scan>[0]) {
        pages += 1;
        yield await Array.fromAsync(records.scan(range));
      },
    });
    const window = await readWindow(paged, target, { from: undefined, limit });
    expect(pages).toBe(reads);
    expect(window.groups).toHaveLength(1);
    const events = window.groups.flat().map(decodeEvent);
    const first = Number(events[0]?.key.slice('key '.length));
    expect(events.map(({ object }) => object?.size)).toEqual(events.map((_event, at) => first + 10 * at));
    // All other objects follow.
    const rest = await readWindow(paged, target, { from: window.next, limit: 100 });
    expect(new Set(rest.groups.flat().map((entry) => decodeEvent(entry).key)).size).toBe(9);
    expect(rest.groups.flat()).toHaveLength(54);
  });

  it('never returns an event without the earlier ones that a scan has missed', async () => {
    const { layer, records } = await observed();
    for (let at = 0; at < 20; at += 1) await layer.putObject(put('bucket', 'one', 'x'.repeat(at)));
    let scans = 0;
    const racing = new Proxy(records, {
      get(store, name) {
        if (name !== 'scan') return Reflect.get(store, name) as unknown;
        return async function* (range: Parameters<typeof records.scan>[0]) {
          scans += 1;
          // The first scan misses the events of even sizes.
          for await (const item of store.scan(range)) {
            if (scans > 1 || item.kind !== 'entry' || (decodeEvent(item).object?.size ?? 0) % 2 === 1) yield item;
          }
          if (scans === 1) await layer.putObject(put('bucket', 'one', 'x'.repeat(20)));
        };
      },
    });
    const { groups } = await readWindow(racing, target, { from: undefined, limit: 100 });
    expect(groups.flat().map((entry) => decodeEvent(entry).object?.size)).toEqual(
      Array.from({ length: 20 }, (_, at) => at),
    );
  });

  it('counts what a full queue drops', async () => {
    const test = testLayer({
      events: {
        isHeard: false,
        hear: () => undefined,
        takes: () => false,
        isFull: () => Promise.resolve(true),
        countDropped: (name) => void dropped.push(name),
      },
    });
    const dropped: string[] = [];
    await test.layer.createBucket('bucket', { location: '' });
    await test.layer.putBucketNotification('bucket', [rule], { test: false });
    await test.layer.putObject(put('bucket', 'a', 'text'));
    expect(dropped).toEqual([target]);
    expect(await queuedTargets(test.records)).toEqual([]);
  });

  it('counts a drop once where the write is attempted again', async () => {
    const dropped: string[] = [];
    const test = testLayer({
      events: {
        isHeard: false,
        hear: () => undefined,
        takes: () => false,
        isFull: () => Promise.resolve(true),
        countDropped: (name) => void dropped.push(name),
      },
    });
    await test.layer.createBucket('bucket', { location: '' });
    await test.layer.putBucketNotification('bucket', [rule], { test: false });
    const writes = Array.from({ length: 8 }, (_, at) => test.layer.putObject(put('bucket', 'a', String(at))));
    await Promise.all(writes);
    expect(dropped).toHaveLength(8);
  });

  it('has a state for administrators', async () => {
    const { layer, records } = await observed();
    await layer.putObject(put('bucket', 'a', 'text'));
    const delivery: Delivery = { deliver: () => Promise.resolve(), isOfEvent: () => false };
    await deliver(records, delivery, async () => {
      expect(await readQueues(records)).toEqual([
        expect.objectContaining({ target, dropped: 0, failures: 0, events: expect.any(Number) as number }),
      ]);
    });
  });
});

describe('a queue whose store fails', () => {
  it('ends with the deliveries and the measurements that were begun', async () => {
    const { layer, records } = await observed();
    await layer.putObject(put('bucket', 'key', 'text'));
    let reads = 0;
    const failing = new Proxy(records, {
      get(store, name) {
        const value: unknown = Reflect.get(store, name, store);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          reads += 1;
          const [batch] = args as [Partial<Parameters<typeof store.commit>[0]>?];
          // The states of the queue are still written.
          if (name === 'commit' && batch?.delete !== undefined) return Promise.reject(new Error('the store failed'));
          return Reflect.apply(value, store, args) as unknown;
        };
      },
    });
    const caller = new AbortController();
    const running = deliverQueue({
      records: failing,
      target,
      delivery: { deliver: () => Promise.resolve(), isOfEvent: () => false },
      bounds,
      signal: caller.signal,
      random: randomBytes,
      log: silent,
      wait: () => endOfTurn(),
    });
    await expect(running).rejects.toThrow('the store failed');
    const before = reads;
    for (let turn = 0; turn < 50; turn += 1) await endOfTurn();
    expect(reads).toBe(before);
    caller.abort(new Error('the test is over'));
  });
});

const size = (events: number) => ({ events, bytes: events * 10 });

describe('a full queue', () => {
  it.each([
    ['takes events below its bounds', undefined, 9, 'drop', undefined],
    ['is full at its bound', undefined, 10, 'drop', 5],
    ['stays full since the same time', 3, 11, 'drop', 3],
    ['takes events again below the bound', 3, 9, 'drop', undefined],
    ['stays parked until it is empty', 3, 1, 'park', 3],
    ['is not parked below its bounds', undefined, 9, 'park', undefined],
    ['takes events again when it is empty', 3, 0, 'park', undefined],
  ] as const)('%s', (_what, before, events, whenFull, expected) => {
    expect(fullSince(before, size(events), { events: 10, bytes: 1_000, whenFull }, 5)).toBe(expected);
  });

  it('is full by bytes too', () => {
    expect(fullSince(undefined, size(5), { events: 10, bytes: 50, whenFull: 'drop' }, 5)).toBe(5);
  });
});
