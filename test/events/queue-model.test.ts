import { randomBytes } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type NotificationRule } from '../../protocol/s3/bucket-notification.ts';
import { decodeRecord } from '../../server/objects/records/record-format.ts';
import { deliverQueue, type Delivery } from '../../server/outbox/deliver-queue.ts';
import { DeliveryError } from '../../server/outbox/delivery-error.ts';
import { dropHeld, retryHeld } from '../../server/outbox/held-records.ts';
import { type QueueState, readQueues } from '../../server/outbox/queue-state.ts';
import { ThreadEvents } from '../../server/outbox/thread-events.ts';
import { decodeKey, within } from '../../server/store/keys.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import type { Batch, Entry } from '../../server/store/record-store.ts';
import { report } from '../support/report.ts';
import { put, testLayer } from '../support/objects/test-layer.ts';

const target = 'A:webhook';
const rule: NotificationRule = {
  id: 'all',
  arn: `arn:minio:sqs::${target}`,
  target,
  events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'],
};
const threads = 3;
/** More than the suspects by which a target that is away is asked. */
const manyBad = 45;

/** What the target does with an event: `broken` ends the connection, with all events that are sent at the time. */
type Fate = 'taken' | 'refused' | 'broken';

/** How the queue of a history is delivered. */
interface QueueForm {
  readonly whenFull: 'drop' | 'park';
  /** Events that fill the queue. */
  readonly bound: number;
  /** Held events that have a time of their own. */
  readonly maxTimed: number;
  /** True where events of other parts of an object go on behind a refused one. */
  readonly hasParts: boolean;
}

const form: fc.Arbitrary<QueueForm> = fc.record({
  whenFull: fc.constantFrom('drop' as const, 'park' as const),
  bound: fc.constantFrom(12, 12, 12, 200),
  maxTimed: fc.constantFrom(2, 1_000),
  hasParts: fc.boolean(),
});

type Step =
  | { readonly kind: 'write'; readonly thread: number; readonly key: number; readonly fate: Fate }
  | { readonly kind: 'remove'; readonly thread: number; readonly key: number }
  /** All threads write at the same time, some of them the same object. */
  | { readonly kind: 'burst'; readonly keys: readonly number[] }
  /** Many objects have an event that the target does not take. */
  | { readonly kind: 'bad'; readonly thread: number; readonly fate: Fate }
  | { readonly kind: 'target'; readonly isAway: boolean }
  /** The target is away until the state of its queue says so. */
  | { readonly kind: 'outage' }
  /** The target is there until nothing waits but what it refuses, and what is behind that. */
  | { readonly kind: 'flow' }
  /** The target takes from now on what it has refused so far. */
  | { readonly kind: 'cure' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'time'; readonly ms: number }
  /** The server that delivers is killed, and another one takes over. */
  | { readonly kind: 'kill-server' }
  | { readonly kind: 'kill-thread'; readonly thread: number }
  | { readonly kind: 'count'; readonly thread: number };

const thread = fc.integer({ min: 0, max: threads - 1 });
const key = fc.integer({ min: 0, max: 5 });
const fate = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fate>('taken') },
  { weight: 1, arbitrary: fc.constant<Fate>('refused') },
  { weight: 1, arbitrary: fc.constant<Fate>('broken') },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ kind: fc.constant('write' as const), thread, key, fate }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), thread, key }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('burst' as const),
      keys: fc.array(key, { minLength: threads, maxLength: 3 * threads }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('bad' as const),
      thread,
      fate: fc.constantFrom<Fate>('refused', 'broken'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('target' as const), isAway: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'outage' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'flow' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'cure' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'retry' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'drop' }) },
  {
    weight: 16,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(10, 400, 1_100, 5_000) }),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: 'kill-server' }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('kill-thread' as const), thread }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('count' as const), thread }) },
);

const nameOf = ({ key: recordKey }: Pick<Entry, 'key'>) => recordKey.toString('latin1');
const kindOf = (recordKey: Buffer) => String(decodeKey(recordKey)[0]);
const objectOf = (name: string) => String(decodeKey(Buffer.from(name, 'latin1'))[2]?.toString('hex'));
/** One of three parts of its object, by a random byte of the name. */
const partOf = (name: string) => String((decodeKey(Buffer.from(name, 'latin1'))[3]?.at(-3) ?? 0) % 3);

/** The queue as it is told by the commits: what was queued and removed, and when its state said that it is full. */
class ObservedRecords extends MemoryRecordStore {
  /** The events that were queued, with their revisions. */
  readonly queued = new Map<string, number>();
  readonly waiting = new Set<string>();
  onQueued: (name: string) => void = () => undefined;
  isFull = false;
  state: QueueState | undefined;
  readonly #bound: number;
  /** The most events that waited since the state last said that the queue takes some. */
  #most = 0;
  /** How often the state has said that the queue is full: a change means that it was, in between. */
  changes = 0;
  /** What was wrong with a state. */
  readonly wrong: string[] = [];

  constructor(bound: number) {
    super();
    this.#bound = bound;
  }

  override async commit(batch: Batch): ReturnType<MemoryRecordStore['commit']> {
    const outcome = await super.commit(batch);
    if (outcome.kind !== 'committed') return outcome;
    for (const { key: recordKey, value } of batch.put ?? []) {
      if (kindOf(recordKey) === 'outbox-state') this.#onState(decodeRecord(value, 'a state') as QueueState);
      if (kindOf(recordKey) !== 'outbox') continue;
      const name = nameOf({ key: recordKey });
      this.queued.set(name, outcome.revision);
      this.waiting.add(name);
      this.onQueued(name);
    }
    this.#most = Math.max(this.#most, this.waiting.size);
    for (const recordKey of batch.delete ?? []) this.waiting.delete(nameOf({ key: recordKey }));
    return outcome;
  }

  #onState(state: QueueState): void {
    this.state = state;
    const isFull = state.fullSince !== undefined;
    if (isFull && this.#most < this.#bound) this.wrong.push(`full with at most ${this.#most} events`);
    if (isFull !== this.isFull) this.changes += 1;
    this.isFull = isFull;
    if (!isFull) this.#most = this.waiting.size;
  }
}

/** Time that passes only when the test says so. */
class VirtualTime {
  now = 1_000_000;
  #timers: { readonly at: number; readonly end: () => void }[] = [];

  readonly wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      this.#timers.push({ at: this.now + ms, end: resolve });
      signal.addEventListener('abort', () => resolve());
    });

  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      await settle();
      const [next] = this.#timers.toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) break;
      this.now = Math.max(this.now, next.at);
      this.#timers = this.#timers.filter((timer) => timer !== next);
      next.end();
    }
    this.now = end;
  }
}

/** Lets what was begun go on for a while. Nothing depends on how far it comes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await endOfTurn();
}

class Target implements Delivery {
  isAway = false;
  readonly fates = new Map<string, Fate>();
  /** The events that it took, each at its first coming. */
  readonly taken = new Set<string>();
  readonly partOf: ((event: Entry) => string) | undefined;
  #sent = new Set<(error: Error) => void>();

  constructor(hasParts: boolean) {
    if (hasParts) this.partOf = (event) => partOf(nameOf(event));
  }

  reach(): Promise<void> {
    return this.isAway ? Promise.reject(new Error('ECONNREFUSED')) : Promise.resolve();
  }

  async deliver(event: Entry): Promise<void> {
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => undefined);
    this.#sent.add(reject);
    try {
      for (let turn = 0; turn < 2; turn += 1) await Promise.race([endOfTurn(), lost]);
      if (this.isAway) throw new Error('ECONNREFUSED');
      const fateOfEvent = this.fates.get(nameOf(event));
      if (fateOfEvent === 'refused') throw new DeliveryError('rejected', 'too large');
      if (fateOfEvent === 'broken') {
        for (const end of this.#sent) end(new Error('the connection was lost'));
        throw new Error('the connection was ended');
      }
      this.taken.add(nameOf(event));
    } finally {
      this.#sent.delete(reject);
    }
  }

  isOfEvent(error: unknown): boolean {
    return error instanceof DeliveryError;
  }
}

interface Counted {
  queued: number;
  dropped: number;
  administered: number;
}

/** Servers and threads over one store, and what the model knows of their events. */
class Deployment {
  readonly records: ObservedRecords;
  readonly time = new VirtualTime();
  readonly target: Target;
  readonly #form: QueueForm;
  readonly #threads: { readonly layer: ReturnType<typeof testLayer>['layer']; readonly events: ThreadEvents }[] = [];
  /** The events that each thread has dropped and not counted yet. */
  readonly #uncounted = Array.from({ length: threads }, () => 0);
  #dropped = 0;
  /** Drops that killed threads may not have counted. */
  #lost = 0;
  #dropsOfAdministrators = 0;
  #nextFate: Fate = 'taken';
  #server: { readonly end: () => void; readonly running: Promise<void> } | undefined;
  #made = 0;

  constructor(queueForm: QueueForm) {
    this.#form = queueForm;
    this.records = new ObservedRecords(queueForm.bound);
    this.target = new Target(queueForm.hasParts);
    this.records.onQueued = (name) => this.target.fates.set(name, this.#nextFate);
  }

  async begin(): Promise<void> {
    for (let at = 0; at < threads; at += 1) this.#startThread(at);
    const layer = this.#layer(0);
    await layer.createBucket('bucket', { location: '' });
    await layer.putBucketNotification('bucket', [rule], { test: false });
    this.#startServer();
  }

  async do(next: Step): Promise<void> {
    switch (next.kind) {
      case 'write':
        return this.#accounted(1, () => this.#write(next.thread, next.key), next.fate);
      case 'remove':
        return this.#remove(next.thread, next.key);
      case 'burst':
        return this.#accounted(next.keys.length, async () => {
          await Promise.all(next.keys.map((one, at) => this.#write(at % threads, one)));
        });
      case 'bad':
        return this.#accounted(manyBad, () => this.#writeMany(next.thread), next.fate);
      case 'outage':
        return this.#outage();
      case 'flow':
        return this.#flow();
      case 'target':
        this.target.isAway = next.isAway;
        return;
      case 'cure':
        this.target.fates.clear();
        return;
      case 'retry':
        await retryHeld(this.records, target, { chosen: 'all', random: randomBytes });
        return;
      case 'drop':
        return this.#dropHeld();
      case 'time':
        return this.time.pass(next.ms);
      case 'kill-server':
        this.#server?.end();
        return this.#startServer();
      case 'kill-thread':
        this.#lost += this.#uncounted[next.thread] ?? 0;
        this.#uncounted[next.thread] = 0;
        return this.#startThread(next.thread);
      case 'count':
        await this.#threads[next.thread]?.events.flush();
        this.#uncounted[next.thread] = 0;
    }
  }

  /** Lets everything be delivered, and says what was wrong. */
  async end(): Promise<Counted> {
    this.target.isAway = false;
    this.target.fates.clear();
    for (let turn = 0; this.records.waiting.size > 0; turn += 1) {
      if (turn > 1_000) throw new Error(`${this.records.waiting.size} events were not delivered`);
      await this.time.pass(5_000);
    }
    // A queue is measured once a second.
    await this.time.pass(3_000);
    expect(this.records.isFull, 'an empty queue is full').toBe(false);
    const before = this.#dropped;
    for (let at = 0; at < threads; at += 1) await this.#write(at, at);
    expect(this.#dropped, 'drops of an empty queue').toBe(before);
    for (let turn = 0; this.records.waiting.size > 0 && turn < 100; turn += 1) await this.time.pass(1_000);
    for (const { events } of this.#threads) await events.flush();
    await this.time.pass(3_000);
    const [state] = await readQueues(this.records);
    this.#server?.end();
    await this.#server?.running;
    const missing = [...this.records.queued.keys()].filter((name) => !this.target.taken.has(name));
    expect(missing.length, 'events that neither came nor were dropped').toBeLessThanOrEqual(
      this.#dropsOfAdministrators,
    );
    expect(this.#outOfOrder()).toEqual([]);
    expect(this.records.wrong).toEqual([]);
    expect(state).toMatchObject({ events: 0, heldDropped: this.#dropsOfAdministrators });
    expect(state).not.toHaveProperty('held');
    expect(state).not.toHaveProperty('failure');
    expect(await Array.fromAsync(this.records.scan(within('outbox-held')))).toEqual([]);
    expect(state?.dropped).toBeLessThanOrEqual(this.#dropped);
    expect(state?.dropped).toBeGreaterThanOrEqual(this.#dropped - this.#lost);
    return {
      queued: this.records.queued.size,
      dropped: this.#dropped,
      administered: this.#dropsOfAdministrators,
    };
  }

  #layer(at: number) {
    const found = this.#threads[at];
    if (found === undefined) throw new Error(`there is no thread ${at}`);
    return found.layer;
  }

  async #write(at: number, name: number): Promise<void> {
    await this.#layer(at).putObject(put('bucket', `key ${name}`, String((this.#made += 1))));
  }

  async #writeMany(at: number): Promise<void> {
    for (let name = 0; name < manyBad; name += 1) await this.#write(at, 100 + name);
  }

  async #outage(): Promise<void> {
    this.target.isAway = true;
    const isShown = () => this.records.waiting.size === 0 || this.records.state?.failure?.away === true;
    for (let turn = 0; !isShown(); turn += 1) {
      if (turn > 1_000) throw new Error(`${this.records.waiting.size} events wait, and the target looks online`);
      await this.time.pass(1_000);
    }
    this.target.isAway = false;
  }

  async #flow(): Promise<void> {
    this.target.isAway = false;
    for (let turn = 0; this.#free().length > 0; turn += 1) {
      if (turn > 4_000) throw new Error(`${this.#free().length} events wait although the target would take them`);
      await this.time.pass(5_000);
    }
  }

  /** Events that wait for nothing but an attempt. */
  #free(): readonly string[] {
    const { waiting, queued } = this.records;
    const revisionOf = (name: string) => queued.get(name) ?? 0;
    const isBad = (name: string) => (this.target.fates.get(name) ?? 'taken') !== 'taken';
    const blocked = new Set<string>();
    return [...waiting]
      .toSorted((a, b) => revisionOf(a) - revisionOf(b))
      .filter((name) => {
        if (isBad(name)) blocked.add(this.#orderOf(name));
        return !blocked.has(this.#orderOf(name));
      });
  }

  /** The events with the same name come in their order. */
  #orderOf(name: string): string {
    return this.#form.hasParts ? `${objectOf(name)} ${partOf(name)}` : objectOf(name);
  }

  /** Returns the events that came first after a later one of their object, or of its part. */
  #outOfOrder(): readonly string[] {
    const last = new Map<string, number>();
    return [...this.target.taken].filter((name) => {
      const [ordered, revision] = [this.#orderOf(name), this.records.queued.get(name) ?? 0];
      const before = last.get(ordered) ?? 0;
      last.set(ordered, Math.max(before, revision));
      return revision < before;
    });
  }

  /** Each change makes one event, which is queued or dropped; it is dropped only where the queue was full meanwhile. */
  async #accounted(count: number, work: () => Promise<unknown>, fateOfAll: Fate = 'taken'): Promise<void> {
    const [queued, dropped, changes, wasFull] = [
      this.records.queued.size,
      this.#dropped,
      this.records.changes,
      this.records.isFull,
    ];
    this.#nextFate = fateOfAll;
    await work();
    this.#nextFate = 'taken';
    const drops = this.#dropped - dropped;
    expect(this.records.queued.size - queued + drops, 'events of changes').toBe(count);
    if (drops > 0) expect(wasFull || this.records.changes > changes, 'a drop without a full queue').toBe(true);
  }

  async #remove(at: number, name: number): Promise<void> {
    const layer = this.#layer(at);
    const isThere = await layer.headObject('bucket', `key ${name}`).then(
      () => true,
      () => false,
    );
    if (isThere) await this.#accounted(1, () => layer.deleteObject('bucket', `key ${name}`));
  }

  async #dropHeld(): Promise<void> {
    const { changed } = await dropHeld(this.records, target, { chosen: 'all', random: randomBytes });
    this.#dropsOfAdministrators += changed;
  }

  #startThread(at: number): void {
    const { records, time } = this;
    const clock = () => time.now;
    const log = { warn: () => undefined };
    const events = new ThreadEvents({ records, random: randomBytes, clock, wallClock: clock, log });
    const count = events.countDropped.bind(events);
    events.countDropped = (name) => {
      this.#dropped += 1;
      this.#uncounted[at] = (this.#uncounted[at] ?? 0) + 1;
      count(name);
    };
    this.#threads[at] = { layer: testLayer({ records, events }).layer, events };
  }

  #startServer(): void {
    const { records, time } = this;
    const killed = new AbortController();
    // A server that was killed or replaced commits nothing any more.
    const fenced = new Proxy(records, {
      get(store, name) {
        if (name === 'commit' && killed.signal.aborted) return () => Promise.reject(new Error('killed'));
        const value: unknown = Reflect.get(store, name, store);
        return typeof value === 'function' ? (value.bind(store) as unknown) : value;
      },
    });
    const running = deliverQueue({
      records: fenced,
      target,
      delivery: this.target,
      bounds: { events: this.#form.bound, bytes: 1_000_000, whenFull: this.#form.whenFull },
      signal: killed.signal,
      random: randomBytes,
      log: { info: () => undefined, warn: () => undefined },
      clock: () => time.now,
      monotonicClock: () => time.now,
      wait: time.wait,
      idleMs: 1_000,
      retry: { maxMs: 20_000 },
      maxTimed: this.#form.maxTimed,
    }).catch((error: unknown) => {
      if (!killed.signal.aborted) throw error;
    });
    running.catch(() => undefined);
    this.#server = { end: () => killed.abort(new Error('killed')), running };
  }
}

/** 30 histories, 300 in the gate, and 1,000 at night (`.ci/soak events`). */
it('each event comes at least once and in order, or is counted as dropped while its queue was full', async () => {
  const sum: Counted = { queued: 0, dropped: 0, administered: 0 };
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(form, fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }), async (queueForm, steps) => {
      const deployment = new Deployment(queueForm);
      await deployment.begin();
      for (const next of steps) await deployment.do(next);
      const { queued, dropped, administered } = await deployment.end();
      histories += 1;
      sum.queued += queued;
      sum.dropped += dropped;
      sum.administered += administered;
    }),
    { numRuns: 300 },
  );
  report(
    `${histories} histories of a queue: ${sum.queued} events were queued, ${sum.dropped} dropped while it was full, and ${sum.administered} dropped by administrators`,
  );
}, 3_600_000);
