import { randomBytes } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { NotificationRule } from '../../protocol/s3/bucket-notification.ts';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import { decodeEvent } from '../objects/events/outbox.ts';
import type { Entry } from '../store/record-store.ts';
import { deliverQueue, type Delivery } from './deliver-queue.ts';
import { DeliveryError } from './delivery-error.ts';
import { dropHeld, heldCounts, heldEvents, retryHeld } from './held-records.ts';
import type { QueueBounds } from './queue-state.ts';
import { readState } from './queue-state.ts';
import { measureQueue } from './read-queue.ts';

const target = '_:webhook';
const rule: NotificationRule = { id: 'all', arn: 'arn:minio:sqs::_:webhook', target, events: ['s3:ObjectCreated:*'] };
const wide: QueueBounds = { events: 1_000, bytes: 1_000_000, whenFull: 'drop' };

async function observed() {
  const test = testLayer();
  await test.layer.createBucket('bucket', { location: '' });
  await test.layer.putBucketNotification('bucket', [rule], { test: false });
  return test;
}

/** The names of events in this test: their key and the size of their object. */
const nameOf = (event: Entry) => {
  const { key, object } = decodeEvent(event);
  return `${key}${object?.size ?? ''}`;
};

/** A target that takes events one after the other, and refuses some. */
class Target implements Delivery {
  readonly got: string[] = [];
  readonly refused = new Map<string, Error>();
  tries = 0;

  async deliver(event: Entry): Promise<void> {
    this.tries += 1;
    const name = nameOf(event);
    await endOfTurn();
    const error = this.refused.get(name);
    if (error !== undefined) throw error;
    this.got.push(name);
  }

  isOfEvent(error: unknown): boolean {
    return error instanceof DeliveryError && error.code === 'rejected';
  }
}

/** Delivers until the test stops it. The time between two attempts is that of a clock which each wait puts forward. */
function start(
  records: Parameters<typeof deliverQueue>[0]['records'],
  delivery: Delivery,
  more: Partial<
    Pick<Parameters<typeof deliverQueue>[0], 'bounds' | 'retry' | 'clock' | 'maxTimed' | 'windowSize'>
  > = {},
) {
  const ended = new AbortController();
  let now = 1_000_000;
  const lines: string[] = [];
  const line = (_fields: object, message: string) => void lines.push(message);
  const running = deliverQueue({
    records,
    target,
    delivery,
    bounds: wide,
    signal: ended.signal,
    random: randomBytes,
    log: { info: line, warn: line },
    clock: () => now,
    monotonicClock: () => now,
    wait: async (ms) => {
      now += Math.min(ms, 100);
      await endOfTurn();
    },
    ...more,
  });
  return {
    lines,
    async stop() {
      ended.abort(new Error('the test is over'));
      await running.catch(() => undefined);
    },
  };
}

const until = (condition: () => unknown) => vi.waitFor(condition, { timeout: 25_000, interval: 5 });
const held = async (records: Parameters<typeof heldEvents>[0]) => Array.fromAsync(heldEvents(records, target));
const never = 1e12;

describe('an event that its target refuses', () => {
  it('is held with the first refusal, while the others go on and the target is online', async () => {
    const { layer, records } = await observed();
    const delivery = new Target();
    delivery.refused.set('bad1', new DeliveryError('rejected', 'too large for amqp://:hunter2@broker'));
    await layer.putObject(put('bucket', 'bad', 'x'));
    await layer.putObject(put('bucket', 'bad', 'xx'));
    const run = start(records, delivery);
    await until(async () => expect(await held(records)).toHaveLength(1));
    delivery.refused.set('bad1', new DeliveryError('rejected', 'and again'));
    for (let at = 0; at < 40; at += 1) await layer.putObject(put('bucket', `good${at}`, ''));
    await until(async () => {
      expect(delivery.got).toHaveLength(40);
      const state = await readState(records, target);
      expect(state).toMatchObject({ events: 2, held: { events: 1, error: 'too large for amqp://:[redacted]@broker' } });
      expect(state).not.toHaveProperty('failure');
    });
    const [{ event, record } = await Promise.reject(new Error('nothing is held'))] = await held(records);
    expect([nameOf(event), record]).toEqual([
      'bad1',
      { since: expect.any(Number) as number, error: 'too large for amqp://:[redacted]@broker' },
    ]);
    expect(run.lines).toHaveLength(1);
    await run.stop();
  });

  it('is tried again when an administrator asks for it, and is delivered before the later ones of its object', async () => {
    const { layer, records } = await observed();
    const delivery = new Target();
    for (const name of ['a1', 'b1']) delivery.refused.set(name, new DeliveryError('rejected', 'no'));
    for (const key of ['a', 'b']) for (const text of ['x', 'xx']) await layer.putObject(put('bucket', key, text));
    const run = start(records, delivery, { retry: { maxMs: never } });
    await until(async () => expect(await held(records)).toHaveLength(2));
    // The next attempt is far away, also for events that were refused many times.
    while (delivery.tries < 30)
      await retryHeld(records, target, { chosen: 'all', random: randomBytes }).then(() => endOfTurn());
    expect(delivery.got).toEqual([]);
    delivery.refused.clear();
    const [one] = (await held(records)).filter(({ event }) => nameOf(event) === 'b1');
    expect(await retryHeld(records, target, { chosen: [one?.id ?? '', 'f'.repeat(48)], random: randomBytes })).toEqual({
      changed: 1,
      unknown: ['f'.repeat(48)],
    });
    await until(() => expect(delivery.got.filter((name) => name.startsWith('b'))).toEqual(['b1', 'b2']));
    expect(await retryHeld(records, target, { chosen: 'all', random: randomBytes })).toMatchObject({ unknown: [] });
    await until(async () => {
      expect(delivery.got.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2']);
      expect(await readState(records, target)).not.toHaveProperty('held');
    });
    expect(await held(records)).toEqual([]);
    expect((await heldCounts(records, target)).dropped).toBe(0);
    await run.stop();
  });

  it('is tried again for two administrators who ask at the same time', async () => {
    const { layer, records } = await observed();
    const delivery = new Target();
    for (const name of ['a1', 'b1', 'c1']) delivery.refused.set(name, new DeliveryError('rejected', 'no'));
    for (const key of ['a', 'b', 'c']) await layer.putObject(put('bucket', key, 'x'));
    const run = start(records, delivery, { retry: { maxMs: never } });
    await until(async () => expect(await held(records)).toHaveLength(3));
    const both = [1, 2].map(() => retryHeld(records, target, { chosen: 'all', random: randomBytes }));
    expect(await Promise.all(both)).toEqual([1, 2].map(() => ({ changed: 3, unknown: [] })));
    await run.stop();
  });

  it('is dropped when an administrator asks for it, and counted; the later ones of its object come then', async () => {
    const { layer, records } = await observed();
    const delivery = new Target();
    delivery.refused.set('a1', new DeliveryError('rejected', 'no'));
    for (const text of ['x', 'xx', 'xxx']) await layer.putObject(put('bucket', 'a', text));
    const run = start(records, delivery);
    await until(async () => expect(await held(records)).toHaveLength(1));
    expect(await dropHeld(records, target, { chosen: 'all', random: randomBytes })).toEqual({
      changed: 1,
      unknown: [],
    });
    await until(async () => {
      expect(delivery.got).toEqual(['a2', 'a3']);
      expect(await readState(records, target)).not.toHaveProperty('held');
    });
    expect(await heldCounts(records, target)).toEqual({ dropped: 1, retried: 0 });
    await run.stop();
  });

  it('is known to the next server that delivers', async () => {
    const { layer, records } = await observed();
    const delivery = new Target();
    delivery.refused.set('a1', new DeliveryError('rejected', 'the first reason'));
    await layer.putObject(put('bucket', 'a', 'x'));
    const first = start(records, delivery);
    await until(async () => expect(await held(records)).toHaveLength(1));
    await first.stop();
    delivery.refused.set('a1', new DeliveryError('rejected', 'another reason'));
    const second = start(records, delivery);
    await until(async () => {
      expect(await readState(records, target)).toMatchObject({ held: { events: 1, error: 'the first reason' } });
    });
    await second.stop();
  });

  it('delays no new event by the time that its refusal took', async () => {
    const { layer, records } = await observed();
    let now = 0;
    const waits: number[] = [];
    const ended = new AbortController();
    await layer.putObject(put('bucket', 'bad', 'x'));
    const running = deliverQueue({
      records,
      target,
      delivery: {
        deliver: () => {
          now += 1_000;
          return Promise.reject(new DeliveryError('rejected', 'no'));
        },
        isOfEvent: () => true,
      },
      bounds: wide,
      signal: ended.signal,
      random: randomBytes,
      log: { info: () => undefined, warn: () => undefined },
      monotonicClock: () => now,
      // The first attempt is the only one.
      wait: (ms, signal) => {
        waits.push(ms);
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
      },
      idleMs: 20,
    });
    // The other one is that of the measurements.
    await until(() => expect(waits).toHaveLength(2));
    expect(waits).toContain(20);
    ended.abort(new Error('the test is over'));
    await running.catch(() => undefined);
  });

  it('is tried again at its time where the clock of the machine is set back', async () => {
    const { layer, records } = await observed();
    let wall = 1_000_000_000_000;
    let tries = 0;
    const delivery: Delivery = {
      deliver: () => {
        tries += 1;
        return Promise.reject(new DeliveryError('rejected', 'no'));
      },
      isOfEvent: () => true,
    };
    await layer.putObject(put('bucket', 'bad', 'x'));
    const run = start(records, delivery, { clock: () => wall });
    await until(async () => expect(await readState(records, target)).toMatchObject({ held: { since: wall } }));
    wall -= 86_400_000;
    const before = tries;
    await until(() => expect(tries).toBeGreaterThan(before + 3));
    await run.stop();
  });

  it('keeps no parked queue full', async () => {
    const { layer, records } = await observed();
    const delivery = new Target();
    delivery.refused.set('a1', new DeliveryError('rejected', 'no'));
    for (const text of ['x', 'xx']) await layer.putObject(put('bucket', 'a', text));
    for (let at = 0; at < 10; at += 1) await layer.putObject(put('bucket', `b${at}`, ''));
    const away = start(records, { deliver: () => Promise.reject(new Error('away')), isOfEvent: () => false }, parked);
    await until(async () => expect(await readState(records, target)).toHaveProperty('fullSince'));
    await away.stop();
    const run = start(records, delivery, parked);
    await until(async () => {
      expect(delivery.got).toHaveLength(10);
      expect(await readState(records, target)).not.toHaveProperty('fullSince');
    });
    await run.stop();
  });
});

describe('a queue whose bounds are for events that are not held', () => {
  it('takes new events, however many the target refuses', async () => {
    const { layer, records } = await observed();
    const delivery = new Target();
    for (let at = 0; at < 10; at += 1) {
      delivery.refused.set(`bad${at}0`, new DeliveryError('rejected', 'no'));
      await layer.putObject(put('bucket', `bad${at}`, ''));
    }
    const bounds = { events: 10, bytes: 1_000_000, whenFull: 'drop', exceptHeld: true } as const;
    const first = start(records, delivery, { bounds });
    await until(async () => {
      expect(await readState(records, target)).toMatchObject({ events: 10, held: { events: 10 } });
      expect(await readState(records, target)).not.toHaveProperty('fullSince');
    });
    await first.stop();
    // The next server has made no pass over the queue when it measures it first.
    const answer = Promise.withResolvers<void>();
    const away: Delivery = { deliver: () => answer.promise, isOfEvent: () => true };
    const next = start(records, away, { bounds });
    await layer.putObject(put('bucket', 'more', ''));
    await until(async () => expect(await readState(records, target)).toMatchObject({ events: 11 }));
    expect(await readState(records, target)).not.toHaveProperty('fullSince');
    answer.resolve();
    await next.stop();
  });
});

const parked = { bounds: { events: 10, bytes: 1_000_000, whenFull: 'park' } } as const;

/** A target that ends the connection of all events that are sent at the same time, for some events. */
class BreakingTarget extends Target {
  readonly #breaking: ReadonlySet<string>;
  #sent: ((error: Error) => void)[] = [];

  constructor(breaking: Iterable<string>) {
    super();
    this.#breaking = breaking instanceof Set ? breaking : new Set(breaking);
  }

  override async deliver(event: Entry): Promise<void> {
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => undefined);
    this.#sent.push(reject);
    // The events that are sent together share a connection.
    for (let turn = 0; turn < 3; turn += 1) await Promise.race([endOfTurn(), lost]);
    if (this.#breaking.has(nameOf(event))) {
      const sent = this.#sent;
      this.#sent = [];
      for (const end of sent) end(new Error('the connection was lost'));
      throw new Error('the connection was ended');
    }
    await super.deliver(event);
  }
}

/** A target that can be probed. */
class ReachableTarget extends BreakingTarget {
  isAway = false;

  override async deliver(event: Entry): Promise<void> {
    this.tries += 1;
    if (this.isAway) throw new Error('ECONNREFUSED');
    await super.deliver(event);
  }

  reach(): Promise<void> {
    return this.isAway ? Promise.reject(new Error('ECONNREFUSED')) : Promise.resolve();
  }
}

/** Delivers until the event of the object `bad` is held and nothing else waits. */
async function withHeld(delivery: BreakingTarget) {
  const { layer, records } = await observed();
  await layer.putObject(put('bucket', 'bad', ''));
  for (let at = 0; at < 40; at += 1) await layer.putObject(put('bucket', `good${at}`, ''));
  const run = start(records, delivery);
  let more = 0;
  await until(async () => {
    await layer.putObject(put('bucket', `more${(more += 1)}`, ''));
    expect(await held(records)).toHaveLength(1);
  });
  await until(async () => {
    expect(delivery.got.filter((name) => name.startsWith('good'))).toHaveLength(40);
    expect(await measureQueue(records, target, new AbortController().signal)).toMatchObject({ events: 1 });
  });
  return { layer, records, run };
}

describe('an event for which a broker ends the connection without a word', () => {
  it('stops no others, and is held; its target is online while it answers probes', async () => {
    const delivery = new ReachableTarget(['bad0']);
    const { records, run } = await withHeld(delivery);
    const { tries } = delivery;
    await until(() => expect(delivery.tries).toBeGreaterThan(tries + 3));
    const state = await readState(records, target);
    expect(state).not.toHaveProperty('failure');
    expect(state).toMatchObject({ held: { events: 1, error: 'the connection was ended' } });
    await run.stop();
  });

  it('says nothing of a target that has gone away since: it is offline, and online when it takes the event', async () => {
    const breaking = new Set(['bad0']);
    const delivery = new ReachableTarget(breaking);
    const { records, run } = await withHeld(delivery);
    delivery.isAway = true;
    await until(async () => {
      const failure = { error: 'ECONNREFUSED', away: true };
      expect(await readState(records, target)).toMatchObject({ failure, held: { events: 1 } });
    });
    breaking.clear();
    delivery.isAway = false;
    await until(async () => {
      expect(delivery.got).toContain('bad0');
      const state = await readState(records, target);
      expect(state).not.toHaveProperty('failure');
      expect(state).not.toHaveProperty('held');
    });
    await run.stop();
  });

  it('shows its failure as that of a target that answers no probe, until that takes another', async () => {
    const delivery = new BreakingTarget(['bad0']);
    const { layer, records, run } = await withHeld(delivery);
    await until(async () => {
      const failure = { error: 'the connection was ended', away: true };
      expect(await readState(records, target)).toMatchObject({ failure, held: { events: 1 } });
    });
    await layer.putObject(put('bucket', 'last', ''));
    await until(() => {
      expect(delivery.got).toContain('last0');
      expect(run.lines.some((line) => line.includes('takes events again'))).toBe(true);
    });
    await run.stop();
  });

  it('is not held while nothing else says that the target is well', async () => {
    const { layer, records } = await observed();
    const delivery = new ReachableTarget(['bad0']);
    await layer.putObject(put('bucket', 'bad', ''));
    const run = start(records, delivery);
    await until(() => expect(delivery.tries).toBeGreaterThan(20));
    await until(async () => {
      const failure = { error: 'the connection was ended', away: true };
      expect(await readState(records, target)).toMatchObject({ events: 1, failure });
    });
    expect(await held(records)).toEqual([]);
    let more = 0;
    await until(async () => {
      await layer.putObject(put('bucket', `more${(more += 1)}`, ''));
      expect(await held(records)).toHaveLength(1);
    });
    await until(() => expect(delivery.got).toHaveLength(more));
    await run.stop();
  });
});

describe('a target that is back', () => {
  it('is online when it answers by a refusal', async () => {
    const { layer, records } = await observed();
    const delivery = new ReachableTarget([]);
    delivery.refused.set('bad0', new DeliveryError('rejected', 'no'));
    delivery.isAway = true;
    await layer.putObject(put('bucket', 'bad', ''));
    const run = start(records, delivery);
    await until(async () => expect(await readState(records, target)).toMatchObject({ failure: { away: true } }));
    delivery.isAway = false;
    await until(async () => {
      const state = await readState(records, target);
      expect(state).toMatchObject({ held: { events: 1, error: 'no' } });
      expect(state).not.toHaveProperty('failure');
    });
    await run.stop();
  });
});

describe('a delivery that the store ends', () => {
  it('has removed what the target had taken before it rejects', async () => {
    const { layer, records } = await observed();
    await layer.putObject(put('bucket', 'good', ''));
    const failed = new Error('the store has failed');
    const delivery: Delivery = { deliver: () => Promise.resolve(), isOfEvent: () => false };
    let asked = 0;
    const share = { before: () => ((asked += 1) === 1 ? undefined : Promise.reject(failed)) };
    await layer.putObject(put('bucket', 'good', 'x'));
    const running = deliverQueue({
      records,
      target,
      delivery,
      bounds: wide,
      signal: new AbortController().signal,
      random: randomBytes,
      log: { info: () => undefined, warn: () => undefined },
      wait: () => endOfTurn(),
      share,
    });
    await expect(running).rejects.toBe(failed);
    expect(await measureQueue(records, target, new AbortController().signal)).toMatchObject({ events: 1 });
  });
});

describe('more refused events than have times of their own', () => {
  const names = Array.from({ length: 20 }, (_, at) => `bad${at}`);
  const few = { maxTimed: 3, retry: { maxMs: 5_000 } };

  async function refused(more: { readonly windowSize?: number; readonly retry?: object } = {}) {
    const { layer, records } = await observed();
    const delivery = new Target();
    for (const name of names) {
      delivery.refused.set(`${name}1`, new DeliveryError('rejected', 'no'));
      for (const text of ['x', 'xx']) await layer.putObject(put('bucket', name, text));
      await layer.putObject(put('bucket', `good ${name}`, ''));
    }
    const run = start(records, delivery, { ...few, ...more });
    await until(async () => {
      expect(await readState(records, target)).toMatchObject({ events: 40, held: { events: 20, error: 'no' } });
    });
    return { layer, records, delivery, run };
  }

  it('stop no others, and are delivered in order when the target takes them', async () => {
    const { layer, records, delivery, run } = await refused();
    expect(await held(records)).toHaveLength(20);
    for (let at = 0; at < 40; at += 1) await layer.putObject(put('bucket', `more${at}`, ''));
    await until(() => expect(delivery.got).toHaveLength(60));
    delivery.refused.clear();
    await until(() => expect(delivery.got).toHaveLength(100));
    for (const name of names)
      expect(delivery.got.filter((one) => [`${name}1`, `${name}2`].includes(one))).toEqual([`${name}1`, `${name}2`]);
    await until(async () => expect(await readState(records, target)).not.toHaveProperty('held'));
    expect(await held(records)).toEqual([]);
    await run.stop();
  });

  it('are all tried again, where the target still refuses those with times of their own', async () => {
    const { records, delivery, run } = await refused();
    // The first three that were refused have times of their own.
    await until(() => expect(delivery.tries).toBeGreaterThan(200));
    for (const name of names.slice(10)) delivery.refused.delete(`${name}1`);
    await until(() => expect(delivery.got).toHaveLength(20 + 20));
    await until(async () => expect(await readState(records, target)).toMatchObject({ held: { events: 10 } }));
    expect(await held(records)).toHaveLength(10);
    await run.stop();
  });

  it('stay in order in windows of the queue that have few of them each', async () => {
    const { records, delivery, run } = await refused({ windowSize: 5 });
    const { tries } = delivery;
    await until(() => expect(delivery.tries).toBeGreaterThan(tries + 60));
    delivery.refused.clear();
    await until(() => expect(delivery.got).toHaveLength(60));
    for (const name of names)
      expect(delivery.got.filter((one) => [`${name}1`, `${name}2`].includes(one))).toEqual([`${name}1`, `${name}2`]);
    await until(async () => expect(await readState(records, target)).not.toHaveProperty('held'));
    await run.stop();
  });

  it('stop no later parts of their object, although they fill windows of it', async () => {
    const { layer, records } = await observed();
    const delivery = Object.assign(new Target(), { partOf: (event: Entry) => String(decodeEvent(event).object?.size) });
    for (let size = 0; size < 12; size += 1) {
      delivery.refused.set(`key${size}`, new DeliveryError('rejected', 'no'));
      await layer.putObject(put('bucket', 'key', 'x'.repeat(size)));
    }
    // The target has refused an earlier event of the first part, and of none of the others.
    for (const size of [3, 20, 21, 3, 22]) await layer.putObject(put('bucket', 'key', 'x'.repeat(size)));
    const run = start(records, delivery, { maxTimed: 3, windowSize: 5, retry: { firstMs: never, maxMs: never } });
    await until(() => expect(delivery.got).toEqual(['key20', 'key21', 'key22']));
    await until(async () =>
      expect(await readState(records, target)).toMatchObject({ events: 14, held: { events: 12 } }),
    );
    delivery.refused.clear();
    await retryHeld(records, target, { chosen: 'all', random: randomBytes });
    await until(() => expect(delivery.got).toHaveLength(17));
    await run.stop();
  });

  it('stay held where a pass does not read all of their object', async () => {
    const { layer, records } = await observed();
    const delivery = Object.assign(new Target(), { partOf: (event: Entry) => String(decodeEvent(event).object?.size) });
    for (let size = 0; size < 12; size += 1) {
      delivery.refused.set(`key${size}`, new DeliveryError('rejected', 'no'));
      await layer.putObject(put('bucket', 'key', 'x'.repeat(size)));
    }
    const run = start(records, delivery, { windowSize: 5, retry: { firstMs: never, maxMs: never } });
    await until(async () => expect(await held(records)).toHaveLength(12));
    delivery.refused.delete('key0');
    const first = (await held(records)).find(({ event }) => nameOf(event) === 'key0');
    const { tries } = delivery;
    await retryHeld(records, target, { chosen: [first?.id ?? ''], random: randomBytes });
    await until(() => expect(delivery.got).toEqual(['key0']));
    await until(async () => expect(await readState(records, target)).toMatchObject({ held: { events: 11 } }));
    for (let turn = 0; turn < 300; turn += 1) await endOfTurn();
    expect(await held(records)).toHaveLength(11);
    expect(delivery.tries).toBe(tries + 1);
    await run.stop();
  });

  it('are tried alone where an administrator asks for one of them', async () => {
    const { records, delivery, run } = await refused({ windowSize: 5, retry: { firstMs: never, maxMs: never } });
    const settled = async () => {
      let before: number;
      do {
        before = delivery.tries;
        for (let turn = 0; turn < 300; turn += 1) await endOfTurn();
      } while (before !== delivery.tries);
      return before;
    };
    const tries = await settled();
    const one = (await held(records)).at(-1);
    await retryHeld(records, target, { chosen: [one?.id ?? ''], random: randomBytes });
    await until(() => expect(delivery.tries).toBeGreaterThan(tries));
    expect(await settled()).toBe(tries + 1);
    await run.stop();
  });

  it('are known to the next server, and are tried and dropped by administrators', async () => {
    const { records, delivery, run } = await refused();
    await run.stop();
    const next = start(records, delivery, { maxTimed: 3, retry: { firstMs: never, maxMs: never } });
    await until(async () => expect(await readState(records, target)).toMatchObject({ held: { events: 20 } }));
    // All are tried at first.
    const { tries } = delivery;
    await retryHeld(records, target, { chosen: 'all', random: randomBytes });
    await until(() => expect(delivery.tries).toBeGreaterThanOrEqual(tries + 20));
    const change = await dropHeld(records, target, { chosen: 'all', random: randomBytes });
    expect(change).toEqual({ changed: 20, unknown: [] });
    await until(async () => {
      expect(delivery.got.filter((name) => /^bad.*2$/.test(name))).toHaveLength(20);
      expect(await readState(records, target)).not.toHaveProperty('held');
    });
    await next.stop();
  });
});

/** A target that answers some events as if it were away. */
class FailingTarget extends Target {
  override async deliver(event: Entry): Promise<void> {
    const name = nameOf(event);
    if (!name.startsWith('bad') || this.refused.has(name)) return super.deliver(event);
    this.tries += 1;
    await endOfTurn();
    throw new DeliveryError('unavailable', 'it answered 503');
  }
}

describe('events that fail as if their target were away', () => {
  it.each([
    ['one connection', false],
    ['connections of their own', true],
  ])(
    'stop no others, however many they are (%s)',
    async (_what, isSeparate) => {
      const { layer, records } = await observed();
      const delivery = Object.assign(new FailingTarget(), { isSeparate });
      for (let at = 0; at < 40; at += 1) {
        await layer.putObject(put('bucket', `bad${at}`, ''));
        await layer.putObject(put('bucket', `good${at}`, ''));
      }
      const run = start(records, delivery);
      await until(() => expect(delivery.got).toHaveLength(40));
      for (let at = 0; at < 100; at += 1) await layer.putObject(put('bucket', `more${at}`, ''));
      await until(() => expect(delivery.got).toHaveLength(140));
      await run.stop();
    },
    60_000,
  );

  it('stop no others where they follow a refused event of their object', async () => {
    const { layer, records } = await observed();
    const delivery = Object.assign(new FailingTarget(), { partOf: nameOf });
    delivery.refused.set('bad1', new DeliveryError('rejected', 'no'));
    for (const text of ['x', 'xx']) await layer.putObject(put('bucket', 'bad', text));
    for (let at = 0; at < 20; at += 1) await layer.putObject(put('bucket', `good${at}`, ''));
    const run = start(records, delivery, { retry: { maxMs: never } });
    await until(() => expect(delivery.got).toHaveLength(20));
    let more = 0;
    await until(async () => {
      await layer.putObject(put('bucket', `more${(more += 1)}`, ''));
      expect((await held(records)).map(({ event }) => nameOf(event)).toSorted()).toEqual(['bad1', 'bad2']);
    });
    await until(() => expect(delivery.got).toHaveLength(20 + more));
    await run.stop();
  }, 60_000);
});

describe('a target that is back', () => {
  it.each([
    ['at the same time on connections of their own', true, 15],
    ['one after the other on one connection', false, 1],
  ])('gets the events that failed %s', async (_what, isSeparate, most) => {
    const { layer, records } = await observed();
    let [isAway, tries, running, found] = [true, 0, 0, 0];
    const delivery: Delivery = {
      async deliver() {
        tries += 1;
        if (isAway) throw new Error('away');
        running += 1;
        found = Math.max(found, running);
        for (let turn = 0; turn < 3; turn += 1) await endOfTurn();
        running -= 1;
      },
      isOfEvent: () => false,
      isSeparate,
    };
    for (let at = 0; at < 16; at += 1) await layer.putObject(put('bucket', `a${at}`, ''));
    const run = start(records, delivery);
    await until(() => expect(tries).toBeGreaterThan(20));
    isAway = false;
    await until(async () => {
      expect(await measureQueue(records, target, new AbortController().signal)).toMatchObject({ events: 0 });
    });
    // One event has asked whether the target is back.
    expect(found).toBe(most);
    await run.stop();
  });
});

describe('a target that is away', () => {
  it('is asked by one event at a time', async () => {
    const { layer, records } = await observed();
    for (let at = 0; at < 40; at += 1) await layer.putObject(put('bucket', `a${at}`, ''));
    let [running, most, tries] = [0, 0, 0];
    const delivery: Delivery = {
      async deliver() {
        tries += 1;
        running += 1;
        if (tries > 16) most = Math.max(most, running);
        await endOfTurn();
        running -= 1;
        throw new Error('away');
      },
      isOfEvent: () => false,
    };
    const run = start(records, delivery);
    await until(() => expect(tries).toBeGreaterThan(60));
    expect(most).toBe(1);
    expect(await held(records)).toEqual([]);
    await run.stop();
  });

  it('is shown with the first failure, and not with those that follow from it', async () => {
    const { layer, records } = await observed();
    for (let at = 0; at < 4; at += 1) await layer.putObject(put('bucket', `a${at}`, ''));
    let sent = 0;
    const delivery: Delivery = {
      deliver: () => Promise.reject(new Error((sent += 1) === 1 ? 'the cause' : 'the connection was lost')),
      isOfEvent: () => false,
    };
    const ended = new AbortController();
    const running = deliverQueue({
      records,
      target,
      delivery,
      bounds: wide,
      signal: ended.signal,
      random: randomBytes,
      log: { info: () => undefined, warn: () => undefined },
      // The first attempts are the only ones.
      wait: (ms, signal) =>
        ms === 1_000 ? endOfTurn() : new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    await until(async () => {
      expect(await readState(records, target)).toMatchObject({ failure: { error: 'the cause', away: true } });
    });
    ended.abort(new Error('the test is over'));
    await running.catch(() => undefined);
  });
});
