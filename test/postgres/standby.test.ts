import { pino } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitOnce } from '../../server/store/commits.ts';
import { deploymentKey, encodeDeployment } from '../../server/store/deployment.ts';
import { key } from '../../server/store/keys.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { commitId } from '../support/store/patient.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { commitsHavePlaces } from '../support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

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

/** Promotes the standby, and gives its records to another deployment. */
async function promoteForAnother(): Promise<void> {
  await standby.promote();
  const value = encodeDeployment({ deploymentId: randomUUID(), marked: true }).toString('hex');
  const at = deploymentKey.toString('hex');
  await standby.asSuperuser(
    `update coffer_records set value = decode('${value}', 'hex') where key = decode('${at}', 'hex')`,
  );
}

describe('a promoted standby whose records are now those of another deployment', () => {
  const own = randomUUID();
  let both: RecordStore;

  /** Opens the records at both hosts, as those of `own`. */
  async function openBoth(hosts: readonly TestPostgres[]): Promise<void> {
    let deployment: string | undefined;
    both = await openPostgresRecordStore({
      url: `postgres://coffer@${hosts.map(({ port }) => `127.0.0.1:${port}`).join(',')}/coffer`,
      password: primary.password,
      log,
      timeouts: { connect: 5_000, statement: 5_000, answer: 6_000 },
      deployment: () => deployment,
    });
    deployment = own;
  }

  beforeEach(async () => {
    const record = { deploymentId: own, marked: true };
    await commitOnce(store, { put: [{ key: deploymentKey, value: encodeDeployment(record) }] }, randomBytes);
  });
  afterEach(() => both.close());

  it('does not make the primary an old one when a session begins', async () => {
    await promoteForAnother();
    await openBoth([standby, primary]);
    expect((await both.get(key('a')))?.value.toString()).toBe('a');
  });

  it('does not make the primary an old one when a commit is held back', async () => {
    await openBoth([primary, standby]);
    expect((await both.get(key('a')))?.value.toString()).toBe('a');
    await promoteForAnother();
    const put = [{ key: key('b'), value: Buffer.from('b') }];
    expect(await both.commit({ id: commitId(), put })).toEqual({ kind: 'unknown' });
    await primary.asSuperuser('alter system reset synchronous_standby_names');
    await primary.asSuperuser('select pg_reload_conf()');
    // The search for another primary goes on meanwhile.
    for (let round = 0; round < 20; round += 1) {
      expect((await both.get(key('a')))?.value.toString()).toBe('a');
      await sleep(100);
    }
  });
});
