import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { key } from '../../server/store/keys.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { commitId } from '../support/store/patient.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { startHaproxy, startPgbouncer, type TestProxy } from '../support/server/start-proxy.ts';
import { commitsHavePlaces } from '../support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

const log = pino({ enabled: false });
/** Short ones, so that a failover is seen soon; and those of a burst on a busy machine. */
const short = { connect: 1000, statement: 2000, answer: 3000 };
const long = { connect: 10_000, statement: 20_000, answer: 30_000 };

let server: TestPostgres;
let proxy: TestProxy | undefined;
let store: RecordStore | undefined;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());
afterEach(async () => {
  await store?.close();
  await proxy?.remove();
  store = undefined;
  proxy = undefined;
});

const open = (through: TestProxy, password = server.password, timeouts = long) =>
  openPostgresRecordStore({ url: `postgres://coffer@127.0.0.1:${through.port}/coffer`, password, log, timeouts });

function put(records: RecordStore) {
  const id = commitId();
  return records.commit({ id, put: [{ key: key('r', id), value: Buffer.from(id) }] });
}

describe('behind a PgBouncer', () => {
  it('in session mode, everything works, in bursts too', async () => {
    proxy = await startPgbouncer(server, 'session', 20);
    const records = (store = await open(proxy));
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => put(records)));
    expect(outcomes.every(({ kind }) => kind === 'committed')).toBe(true);
  });

  it('in session mode with few connections, bursts are served by those, and so is what comes after', async () => {
    proxy = await startPgbouncer(server, 'session', 2);
    const records = (store = await open(proxy));
    await records.get(key('a'));
    for (let round = 0; round < 3; round += 1) {
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => put(records)));
      expect(outcomes.every(({ kind }) => kind === 'committed')).toBe(true);
    }
    for (let round = 0; round < 20; round += 1) expect(await put(records)).toMatchObject({ kind: 'committed' });
  });

  it.each(['transaction', 'statement'] as const)('in %s mode it is refused, with what to do', async (mode) => {
    proxy = await startPgbouncer(server, mode, 20);
    await expect(open(proxy)).rejects.toMatchObject({
      code: 'store-address',
      message: expect.stringContaining('set pool_mode = session'),
    });
  });
});

describe('behind a haproxy', () => {
  it('a failover to a synchronous standby loses no acknowledged commit, and is served by itself', async () => {
    const primary = await startPostgres();
    const synchronous = await primary.startStandby('synchronous');
    const asynchronous = await primary.startStandby('asynchronous');
    try {
      proxy = await startHaproxy([primary, synchronous]);
      const records = (store = await open(proxy, primary.password, short));
      expect(await put(records)).toMatchObject({ kind: 'committed' });
      await primary.asSuperuser(`alter system set synchronous_standby_names = 'synchronous'`);
      await primary.asSuperuser('select pg_reload_conf()');
      await expect
        .poll(() => primary.asSuperuser(`select sync_state from pg_stat_replication where sync_state = 'sync'`))
        .toHaveLength(1);
      const over = new AbortController();
      const committed: string[] = [];
      const writers = Array.from({ length: 8 }, async () => {
        while (!over.signal.aborted) {
          const id = commitId();
          const outcome = await records
            .commit({ id, put: [{ key: key('r', id), value: Buffer.from(id) }] })
            .catch(() => undefined);
          if (outcome?.kind === 'committed') committed.push(id);
          if (outcome?.kind === 'unknown' && (await records.outcome(id).catch(() => undefined)) === 'committed')
            committed.push(id);
        }
      });
      await expect.poll(() => committed.length, { timeout: 90_000 }).toBeGreaterThan(200);
      await primary.kill();
      await synchronous.promote();
      const before = committed.length;
      await expect.poll(() => committed.length, { timeout: 180_000 }).toBeGreaterThan(before + 50);
      over.abort();
      await Promise.all(writers);
      const found = await records.getAll(committed.map((id) => key('r', id)));
      expect(found.filter((entry) => entry === undefined)).toEqual([]);
    } finally {
      await store?.close();
      store = undefined;
      await Promise.all([primary.remove(), synchronous.remove(), asynchronous.remove()]);
    }
  }, 540_000);
});
