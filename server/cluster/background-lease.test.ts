import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { key } from '../store/keys.ts';
import { Faults } from '../store/memory/faults.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { commitId, Patient } from '../../test/support/store/patient.ts';
import { fencedRecords } from './lease.ts';
import { leaseTimes, BackgroundLease } from './background-lease.ts';

const { ttl, every, margin } = leaseTimes;
let records: MemoryRecordStore;
let now: number;

beforeEach(() => {
  records = new MemoryRecordStore({ places: 'unchecked' });
  now = 0;
});

const server = (name: string) =>
  new BackgroundLease({ records, name: 'test', server: name, random: randomBytes, clock: () => now });

/** So much time passes, and these do what they do every few seconds. */
async function pass(ms: number, ...alive: readonly BackgroundLease[]): Promise<void> {
  for (const end = now + ms; now < end; now += every) for (const lease of alive) await lease.step();
}

async function holding(name: string): Promise<BackgroundLease> {
  const lease = server(name);
  await lease.step();
  expect(lease.hold()).toBeDefined();
  return lease;
}

describe('a lease', () => {
  it('is taken at once where it was never held', async () => {
    const lease = await holding('a');
    expect(lease.hold()?.generation).toBe(1);
  });

  it('stays with its holder, in one term, as long as it renews it', async () => {
    const [a, b] = [await holding('a'), server('b')];
    const hold = a.hold();
    await pass(10 * ttl, a, b);
    expect([a.hold(), b.hold()]).toEqual([hold, undefined]);
  });

  it('goes to another when its holder is gone for as long as it lasts, and not before', async () => {
    const [a, b] = [await holding('a'), server('b')];
    await pass(ttl, b);
    expect([a.hold(), b.hold()]).toEqual([undefined, undefined]);
    await pass(every, b);
    expect(b.hold()?.generation).toBe(2);
  });

  it('goes to another at once when it was given up', async () => {
    const [a, b] = [await holding('a'), server('b')];
    const signal = a.hold()?.signal;
    await a.close();
    expect(signal?.aborted).toBe(true);
    await b.step();
    expect(b.hold()).toBeDefined();
  });

  it('ends by its holder’s own clock when the store cannot be reached', async () => {
    const a = await holding('a');
    records.faults.script(...Array.from({ length: 20 }, () => 'unavailable' as const));
    await expect(a.step()).rejects.toThrow('cannot be reached');
    now += ttl - margin - 1;
    expect(a.hold()).toBeDefined();
    now += 1;
    expect(a.hold()).toBeUndefined();
  });

  it('is a new term when it expired and no other server took it', async () => {
    const a = await holding('a');
    const first = a.hold();
    now += 10 * ttl;
    await a.step();
    expect(a.hold()?.generation).toBe(2);
    expect(first?.signal.aborted).toBe(true);
  });

  it('is not taken twice by a server whose acknowledgement was lost', async () => {
    records.faults.script('lostAfter');
    const a = await holding('a');
    expect(a.hold()?.generation).toBe(1);
  });

  it('is taken again by a server that could not tell whether it had taken it', async () => {
    // The commit takes effect, and nobody can be asked about it.
    records.faults.script('lostAfter', ...Array.from({ length: 5 }, () => 'unavailable' as const));
    const a = server('a');
    await expect(a.step()).rejects.toThrow('cannot say whether');
    await a.step();
    expect(a.hold()?.generation).toBe(2);
  });
});

describe('a holder that was paused', () => {
  const note = key('work');
  const work = () => ({ id: commitId(), put: [{ key: note, value: Buffer.from('done') }] });

  it('changes nothing when it wakes up, even if its clock stood still', async () => {
    const [a, b] = [await holding('a'), server('b')];
    const hold = a.hold();
    const asleepAt = now;
    await pass(ttl + 2 * every, b);
    expect(b.hold()).toBeDefined();
    now = asleepAt;
    expect(a.hold()).toBe(hold);
    if (hold === undefined) return;
    await expect(fencedRecords(records, hold).commit(work())).rejects.toThrow(
      expect.objectContaining({ code: 'lease-lost' }),
    );
    expect(await records.get(note)).toBeUndefined();
  });

  it('finds out with its next renewal', async () => {
    const [a, b] = [await holding('a'), server('b')];
    const asleepAt = now;
    await pass(ttl + 2 * every, b);
    now = asleepAt;
    await a.step();
    expect(a.hold()).toBeUndefined();
  });

  it('does not take over what another one works on when it stops', async () => {
    const [a, b] = [await holding('a'), server('b')];
    const asleepAt = now;
    await pass(ttl + 2 * every, b);
    now = asleepAt;
    await a.close();
    await b.step();
    expect(b.hold()?.generation).toBe(2);
  });
});

/** A contender has a clock of its own, which may stand still while it is paused, as a virtual machine's does. */
class Contender {
  #clock = 0;
  #pausedFor = 0;
  readonly lease: BackgroundLease;
  readonly store: MemoryRecordStore;

  constructor(store: MemoryRecordStore, name: string) {
    this.store = store;
    this.lease = new BackgroundLease({
      records: store,
      name: 'test',
      server: name,
      random: randomBytes,
      clock: () => this.#clock,
    });
  }

  pass(ms: number): void {
    const asleep = Math.min(this.#pausedFor, ms);
    this.#pausedFor -= asleep;
    this.#clock += ms - asleep;
  }

  pause(ms: number): void {
    this.#pausedFor += ms;
  }

  async step(): Promise<void> {
    if (this.#pausedFor === 0) await this.lease.step();
  }

  /** Writes its generation into the log as the holder does its work: fenced. */
  async work(entry: number): Promise<void> {
    const hold = this.lease.hold();
    if (hold === undefined) return;
    const put = [{ key: key('log', String(entry).padStart(6, '0')), value: Buffer.from(String(hold.generation)) }];
    await fencedRecords(this.store, hold).commit({ id: commitId(), put });
  }
}

type Event =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'step' | 'work'; readonly who: number }
  | { readonly kind: 'pause'; readonly who: number; readonly ms: number };

const who = fc.nat({ max: 3 });
const awake: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 2 * every }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('step' as const, 'work' as const, 'work' as const), who }),
  },
);
const pausing: fc.Arbitrary<Event> = fc.oneof(
  { weight: 9, arbitrary: awake },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause' as const), who, ms: fc.nat({ max: 3 * ttl }) }) },
);

const plan = { latencyTicks: 3, conflict: 0.05, lostAfter: 0.1, lostBefore: 0.1, late: 0.05, unavailable: 0.1 };

/** The events one after the other; `check` is asked whenever time has passed. */
async function play(
  store: MemoryRecordStore,
  count: number,
  events: readonly Event[],
  check: (all: readonly Contender[]) => void,
): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => new Contender(store, `server ${index}`));
  const underWay: Promise<void>[] = [];
  for (const [index, event] of events.entries()) {
    if (event.kind === 'pass') {
      for (const one of all) one.pass(event.ms);
      await Promise.allSettled(underWay.splice(0));
      check(all);
      continue;
    }
    const one = all[event.who % count];
    if (event.kind === 'pause') one?.pause(event.ms);
    // What was begun before a pause goes on after it, as the work of a process that was stopped does.
    else if (event.kind === 'work') underWay.push(one?.work(index) ?? Promise.resolve());
    else underWay.push(one?.step() ?? Promise.resolve());
  }
  await Promise.allSettled(underWay);
}

const contenders = fc.integer({ min: 2, max: 4 });
const long = { minLength: 20, maxLength: 150 };

describe('of several contenders, whatever fails', { timeout: 360_000 }, () => {
  it('no two hold the lease by their clocks while none is paused', async () => {
    await fc.assert(
      fc.asyncProperty(contenders, fc.integer(), fc.array(awake, long), (count, seed, events) =>
        play(
          new MemoryRecordStore({ places: 'unchecked', faults: new Faults({ ...plan, seed }) }),
          count,
          events,
          (all) => {
            expect(all.filter(({ lease }) => lease.hold() !== undefined).length).toBeLessThan(2);
          },
        ),
      ),
      { numRuns: 500 },
    );
  });

  it('only the holder of the newest term changes anything, also when holders are paused', async () => {
    let changes = 0;
    await fc.assert(
      fc.asyncProperty(contenders, fc.integer(), fc.array(pausing, long), async (count, seed, events) => {
        const store = new MemoryRecordStore({ places: 'unchecked', faults: new Faults({ ...plan, seed }) });
        await play(store, count, events, () => undefined);
        const generations = await loggedGenerations(store);
        changes += generations.length;
        expect(generations).toEqual(generations.toSorted((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
    // The property would hold for contenders that change nothing, too.
    expect(changes).toBeGreaterThan(0);
  });
});

/** In the order of their commits, which is that of the memory store's revisions. */
async function loggedGenerations(store: MemoryRecordStore): Promise<number[]> {
  const log = await new Patient(store).scan({ start: key('log'), end: key('loh') });
  return log
    .flatMap((item) => (item.kind === 'entry' ? [item] : []))
    .toSorted((a, b) => a.revision - b.revision)
    .map(({ value }) => Number(value.toString()));
}
