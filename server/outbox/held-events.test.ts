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
  more: Partial<Pick<Parameters<typeof deliverQueue>[0], 'bounds' | 'maxRejectedMs' | 'clock'>> = {},
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
    showsHeld: true,
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
    const run = start(records, delivery, { maxRejectedMs: never });
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
    const run = start(records, delivery, { maxRejectedMs: never });
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

const parked = { bounds: { events: 10, bytes: 1_000_000, whenFull: 'park' } } as const;

/** A target that ends the connection of all events that are sent at the same time, for some events. */
class BreakingTarget extends Target {
  readonly #breaking: ReadonlySet<string>;
  #sent: ((error: Error) => void)[] = [];

  constructor(breaking: readonly string[]) {
    super();
    this.#breaking = new Set(breaking);
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

describe('an event for which a broker ends the connection without a word', () => {
  it('stops no others, and is held', async () => {
    const { layer, records } = await observed();
    const delivery = new BreakingTarget(['bad0']);
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
    const state = await readState(records, target);
    expect(state).not.toHaveProperty('failure');
    await run.stop();
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
    const run = start(records, delivery, { maxRejectedMs: never });
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
