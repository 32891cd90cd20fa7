import { pino } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitOnce } from '../../server/store/commits.ts';
import { key } from '../../server/store/keys.ts';
import { randomBytes } from 'node:crypto';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { commitId } from '../support/store/patient.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';

const log = pino({ enabled: false });

let primary: TestPostgres;
let standby: TestPostgres;
let store: RecordStore;

beforeEach(async () => {
  primary = await startPostgres();
  standby = await primary.startStandby('other');
  store = await openPostgresRecordStore({
    url: primary.url,
    password: primary.password,
    log,
    timeouts: { connect: 1000, statement: 1000, answer: 2000 },
  });
  await commitOnce(store, { put: [{ key: key('a'), value: Buffer.from('a') }] }, randomBytes);
  await primary.asSuperuser(`alter system set synchronous_standby_names = 'other'`);
  await primary.asSuperuser('select pg_reload_conf()');
  await sleep(200);
});
afterEach(async () => {
  await store.close();
  await Promise.all([primary.remove(), standby.remove()]);
});

const waiting = `wait_event = 'SyncRep' and usename = 'coffer'`;

async function waitFor(count: number): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    const [row] = await primary.asSuperuser(`select count(*)::int as count from pg_stat_activity where ${waiting}`);
    if (row?.['count'] === count) return;
    await sleep(50);
  }
  throw new Error(`not ${count} statements wait for the standby`);
}

describe('a commit whose wait for the synchronous standby is cancelled', () => {
  it('is unknown, and committed once the standby has it', async () => {
    await standby.stop();
    const id = commitId();
    const committing = store.commit({ id, put: [{ key: key('b'), value: Buffer.from('b') }] });
    await waitFor(1);
    await primary.asSuperuser(`select pg_cancel_backend(pid) from pg_stat_activity where ${waiting}`);
    expect(await committing).toEqual({ kind: 'unknown' });
    await standby.start();
    expect(await store.outcome(id)).toBe('committed');
    await primary.kill();
    await standby.promote();
    expect(await standby.asSuperuser('select count(*)::int as count from coffer_records')).toEqual([{ count: 2 }]);
  });

  it('is not committed after a failover, which loses it', async () => {
    await standby.stop();
    const id = commitId();
    const committing = store.commit({ id, put: [{ key: key('b'), value: Buffer.from('b') }] });
    await waitFor(1);
    await primary.asSuperuser(`select pg_cancel_backend(pid) from pg_stat_activity where ${waiting}`);
    expect(await committing).toEqual({ kind: 'unknown' });
    await primary.kill();
    await standby.start();
    await standby.promote();
    const promoted = await openPostgresRecordStore({ url: standby.url, password: standby.password, log });
    expect(await promoted.outcome(id)).toBe('not-committed');
    expect(await promoted.get(key('b'))).toBeUndefined();
    await promoted.close();
  });

  it('stays unknown where the wait of the question is cancelled, too', async () => {
    await standby.stop();
    const id = commitId();
    const committing = store.commit({ id, put: [{ key: key('b'), value: Buffer.from('b') }] });
    await waitFor(1);
    await primary.asSuperuser(`select pg_cancel_backend(pid) from pg_stat_activity where ${waiting}`);
    await committing;
    const asked = new AbortController();
    const asking = store
      .outcome(id)
      .catch((error: unknown) => error)
      .finally(() => asked.abort());
    while (!asked.signal.aborted) {
      await primary.asSuperuser(`select pg_cancel_backend(pid) from pg_stat_activity where ${waiting}`);
    }
    expect(await asking).toMatchObject({ code: 'unreachable' });
    await standby.start();
    expect(await store.outcome(id)).toBe('committed');
  });
});

it('a commit that is given up leaves no statement behind that waits for the standby', async () => {
  await standby.stop();
  const puts = Array.from({ length: 5 }, (_, index) => {
    const id = commitId();
    return store.commit({ id, put: [{ key: key('c', String(index)), value: Buffer.from('c') }] });
  });
  await waitFor(5);
  for (const outcome of await Promise.all(puts)) expect(outcome).toEqual({ kind: 'unknown' });
  await waitFor(0);
});
