import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decodeCounter } from '../../server/store/commits.ts';
import { key } from '../../server/store/keys.ts';
import { commitId } from '../support/store/patient.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { type RecordStore } from '../../server/store/record-store.ts';
import { startPostgres, type TestDatabase, type TestPostgres } from '../support/server/postgres.ts';
import { isStoreError } from '../../server/store/store-error.ts';
import { commitsHavePlaces } from '../support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

const log = pino({ enabled: false });
const total = key('total');

let server: TestPostgres;
let database: TestDatabase;
let store: RecordStore;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());
beforeEach(async () => {
  database = await server.createDatabase();
  store = await openPostgresRecordStore({
    ...database,
    log,
    timeouts: { connect: 1000, statement: 1000, answer: 1500 },
  });
});
afterEach(() => store.close());

/** What callers were told, and what they must find in the end. */
interface Told {
  readonly committed: string[];
  readonly not: string[];
  unknown: number;
}

/** Each commit puts a record of its own and counts it, until it is told to stop; every `unknown` is settled. */
async function write(until: () => boolean, told: Told): Promise<void> {
  while (!until()) {
    const id = commitId();
    const batch = { id, put: [{ key: key('r', id), value: Buffer.from(id) }], add: [{ key: total, delta: 1n }] };
    const outcome = await store.commit(batch).catch(unavailable);
    if (outcome === undefined) told.not.push(id);
    else if (outcome.kind === 'committed') told.committed.push(id);
    else if (outcome.kind === 'unknown') {
      told.unknown += 1;
      ((await settled(id)) === 'committed' ? told.committed : told.not).push(id);
    }
  }
}

async function settled(id: string): Promise<'committed' | 'not-committed'> {
  for (;;) {
    const outcome = await store.outcome(id).catch(unavailable);
    if (outcome !== undefined) return outcome;
    await sleep(20);
  }
}

function unavailable(error: unknown): undefined {
  if (!isStoreError(error, 'unreachable')) throw error;
}

/** Exactly what was told: no answered commit is missing, none that was ruled out is there. */
async function expectExact({ committed, not }: Told): Promise<void> {
  const found = await store.getAll(committed.map((id) => key('r', id)));
  expect(found.filter((entry) => entry === undefined)).toEqual([]);
  const ruledOut = await store.getAll(not.map((id) => key('r', id)));
  expect(ruledOut.filter((entry) => entry !== undefined)).toEqual([]);
  expect(decodeCounter((await store.get(total))?.value)).toBe(BigInt(committed.length));
}

async function disturbed(disturb: (told: Told) => Promise<void>): Promise<Told> {
  const told: Told = { committed: [], not: [], unknown: 0 };
  let done = false;
  const writers = Array.from({ length: 16 }, () => write(() => done, told));
  try {
    await disturb(told);
  } finally {
    done = true;
    await Promise.all(writers);
  }
  return told;
}

/** Until so many more commits were answered: the writers are at work, however busy the machine is. */
async function atWork(told: Told, more = 50): Promise<void> {
  const enough = told.committed.length + more;
  while (told.committed.length < enough) await sleep(5);
}

describe('under load', () => {
  it('a server killed and restarted loses no answered commit, and every lost answer is settled exactly', async () => {
    const told = await disturbed(async (working) => {
      for (let round = 0; round < 5; round += 1) {
        await atWork(working);
        await sleep(randomInt(300));
        await server.kill();
        await sleep(randomInt(200));
        await server.start();
      }
    });
    await expectExact(told);
    expect(told.committed.length).toBeGreaterThan(100);
    expect(told.unknown).toBeGreaterThan(0);
  }, 360_000);

  it('a server that an administrator restarts loses nothing either', async () => {
    const told = await disturbed(async (working) => {
      for (let round = 0; round < 3; round += 1) {
        await atWork(working);
        await sleep(randomInt(300));
        await server.stop();
        await server.start();
      }
    });
    await expectExact(told);
    expect(told.committed.length).toBeGreaterThan(100);
  }, 360_000);

  it('sessions ended in the middle of commits leave every outcome exact', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const told = await disturbed(async () => {
      for (let round = 0; round < 150; round += 1) {
        await sleep(randomInt(20));
        await server.asSuperuser(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = '${name}' and usename = 'coffer' order by random() limit 2`,
        );
      }
    });
    await expectExact(told);
    expect(told.unknown).toBeGreaterThan(10);
  }, 360_000);

  it('a server that hangs is left after a time, and what it did meanwhile is reported exactly', async () => {
    const told = await disturbed(async (working) => {
      for (let round = 0; round < 2; round += 1) {
        await atWork(working);
        server.pause();
        await sleep(2500);
        server.resume();
      }
      await atWork(working);
    });
    await expectExact(told);
    expect(told.unknown).toBeGreaterThan(0);
  }, 360_000);
});

describe('a server that hangs', () => {
  it('is said to be unreachable, within the time that was set', async () => {
    await store.get(total);
    server.pause();
    try {
      const began = performance.now();
      await expect(store.get(total)).rejects.toMatchObject({ name: 'StoreError', code: 'unreachable' });
      expect(performance.now() - began).toBeLessThan(10_000);
    } finally {
      server.resume();
    }
    expect(await store.get(total)).toBeUndefined();
  });
});

describe('a server that is gone', () => {
  it('is said to be unreachable, and served again without a new store', async () => {
    await store.commit({ id: commitId(), put: [{ key: total, value: Buffer.from('x') }] });
    await server.stop();
    try {
      await expect(store.get(total)).rejects.toMatchObject({ code: 'unreachable' });
      const put = { id: commitId(), put: [{ key: total, value: Buffer.from('y') }] };
      expect(await store.commit(put).catch(unavailable)).toSatisfy(
        (outcome: { kind: string } | undefined) => outcome === undefined || outcome.kind === 'unknown',
      );
      const opening = openPostgresRecordStore({ ...database, log, timeouts: { connect: 500 } });
      await expect(opening).rejects.toMatchObject({ name: 'StoreError', code: 'unreachable' });
    } finally {
      await server.start();
    }
    expect((await store.get(total))?.value.toString()).toBe('x');
  });
});

describe('a wrong password', () => {
  it('is said so, and shown nowhere', async () => {
    const wrong = 'hunter2-is-not-it';
    const lines: string[] = [];
    const opening = openPostgresRecordStore({
      url: database.url,
      password: wrong,
      log: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }),
    });
    const error: unknown = await opening.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: 'StoreError', code: 'unreachable' });
    expect(String(error)).toContain('password authentication failed for user "coffer"');
    expect(inspect(error, { depth: Infinity, showHidden: true }) + lines.join('')).not.toContain(wrong);
  });
});
