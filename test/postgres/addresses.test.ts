import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { key } from '../../server/store/keys.ts';
import { newestPrimaryMemory } from '../../server/store/postgres/newest-primary.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { commitId } from '../support/store/patient.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { startHaproxy } from '../support/server/start-proxy.ts';
import { commitsHavePlaces } from '../support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

const log = pino({ enabled: false });
const timeouts = { connect: 3000, statement: 5000, answer: 8000 };
let server: TestPostgres;
let store: RecordStore | undefined;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());
afterEach(async () => {
  await store?.close();
  store = undefined;
});

async function open(url: string, password: string | undefined = server.password): Promise<RecordStore> {
  store = await openPostgresRecordStore({ url, log, timeouts, ...(password !== undefined && { password }) });
  return store;
}

function put(records: RecordStore) {
  const id = commitId();
  return records.commit({ id, put: [{ key: key('r', id), value: Buffer.from(id) }] });
}

/** Puts until one is committed, as a client that tries again does. */
async function putWhenBack(records: RecordStore) {
  const until = performance.now() + 60_000;
  for (;;) {
    try {
      const outcome = await put(records);
      if (outcome.kind === 'committed') return outcome;
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await sleep(200);
  }
}

async function rowsOf(database: TestPostgres): Promise<unknown> {
  const [row] = await database.asSuperuser('select count(*)::int as rows from coffer_records');
  return row?.['rows'];
}

describe('an address with a failover pair', { timeout: 540_000 }, () => {
  it('serves the one that writes, also when it is the second, and follows a failover and the way back', async () => {
    const primary = await startPostgres();
    const standby = await primary.startStandby('second');
    try {
      const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
      const records = await open(`postgres://coffer@${hosts}/coffer?target_session_attrs=read-write`, primary.password);
      expect(await put(records)).toMatchObject({ kind: 'committed' });
      await primary.stop();
      await standby.promote();
      await putWhenBack(records);
      // The old primary takes writes again, which the new one does not have.
      await primary.start();
      const before = await rowsOf(primary);
      for (let count = 0; count < 30; count += 1) await put(records);
      expect(await rowsOf(primary)).toBe(before);
    } finally {
      await standby.remove();
      await primary.remove();
    }
  });

  it('leaves a primary that was never stopped when its synchronous standby was promoted, in each thread', async () => {
    const primary = await startPostgres();
    const standby = await primary.startStandby('second');
    await primary.asSuperuser(`alter system set synchronous_standby_names = 'second'`);
    await primary.asSuperuser('select pg_reload_conf()');
    const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
    const thread = {
      url: `postgres://coffer@${hosts}/coffer`,
      password: primary.password,
      log,
      timeouts,
      newestPrimary: newestPrimaryMemory(),
    };
    const reader = await openPostgresRecordStore(thread);
    try {
      const records = (store = await openPostgresRecordStore(thread));
      expect(await put(records)).toMatchObject({ kind: 'committed' });
      await reader.get(key('r'));
      await standby.promote();
      await putWhenBack(records);
      const before = await rowsOf(primary);
      const id = commitId();
      await records.commit({ id, put: [{ key: key('new'), value: Buffer.from(id) }] });
      expect((await reader.get(key('new')))?.value).toEqual(Buffer.from(id));
      expect(await rowsOf(primary)).toBe(before);
    } finally {
      await reader.close();
      await standby.remove();
      await primary.remove();
    }
  });

  it('never writes to an old primary again, to which a proxy leads', async () => {
    const primary = await startPostgres();
    const standby = await primary.startStandby('second');
    const proxy = await startHaproxy([primary, standby]);
    try {
      const records = await open(`postgres://coffer@127.0.0.1:${proxy.port}/coffer`, primary.password);
      await put(records);
      await primary.stop();
      await standby.promote();
      await putWhenBack(records);
      await primary.start();
      const before = await rowsOf(primary);
      // New sessions are led to the old primary as soon as the proxy finds it.
      const until = performance.now() + 60_000;
      let refusal = '';
      while (!refusal.includes('old primary') && performance.now() < until) {
        await standby.asSuperuser(
          `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'coffer' and datname = 'coffer'`,
        );
        await put(records).catch((error: unknown) => {
          refusal = String(error);
        });
        await sleep(100);
      }
      expect(refusal).toMatch(/is an old primary: it has timeline 1, and another one was promoted to 2/);
      expect(await rowsOf(primary)).toBe(before);
      await primary.stop();
      await putWhenBack(records);
    } finally {
      await proxy.remove();
      await standby.remove();
      await primary.remove();
    }
  });
});

describe('an address with options of libpq', () => {
  it('sets what the session has', async () => {
    await server.asSuperuser('create schema mine authorization coffer');
    await open(`${server.url}?options=-c%20search_path%3Dmine&connect_timeout=20&keepalives=0&application_name=x`);
    const [row] = await server.asSuperuser(`select to_regclass('mine.coffer_records') is not null as made`);
    expect(row).toEqual({ made: true });
  });

  it('signs in by the accepted methods alone, and sends no password to a server that asks for another', async () => {
    const records = await open(`${server.url}?require_auth=scram-sha-256`);
    expect(await put(records)).toMatchObject({ kind: 'committed' });
    await records.close();
    store = undefined;
    await expect(open(`${server.url}?require_auth=md5`)).rejects.toThrow(
      'it asks for the method scram-sha-256, and require_auth of the address accepts md5',
    );
  });
});

it('warns of values in the log of the database, until the role keeps them out', async () => {
  const warnings: string[] = [];
  const heard = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
  const opened = async () => {
    warnings.length = 0;
    await (await openPostgresRecordStore({ url: server.url, password: server.password, log: heard, timeouts })).close();
    return warnings.join('');
  };
  await server.asSuperuser('alter role coffer set log_min_duration_statement = 0');
  expect(await opened()).toContain('log_min_duration_statement=0');
  await server.asSuperuser('alter role coffer set log_parameter_max_length = 0');
  expect(await opened()).toBe('');
  await server.asSuperuser('alter role coffer reset all');
});

describe('the cause of a failure', () => {
  it('is a password that is not given', async () => {
    await expect(open(server.url, '')).rejects.toThrow('SVC_STORE_RECORDS_PASSWORD');
  });

  it('is a file that is not there', async () => {
    await expect(open(`${server.url}?sslmode=verify-full&sslrootcert=/not/there.pem`)).rejects.toThrow(
      /sslrootcert \(SVC_STORE_RECORDS_CA_FILE\) of the database names \/not\/there\.pem, which cannot be read/,
    );
  });

  it('is TLS that the server does not offer', async () => {
    await expect(open(`${server.url}?sslmode=require`)).rejects.toThrow(/offers no TLS.*turn ssl on/);
  });

  it('is the schema public of PostgreSQL 15, with the cure', async () => {
    await server.asSuperuser(`create role guest login password 'guest'`);
    await server.asSuperuser('create database foreign_one', 'postgres');
    await expect(open(`postgres://guest@127.0.0.1:${server.port}/foreign_one`, 'guest')).rejects.toThrow(
      /permission denied for schema public.*alter database NAME owner to ROLE/,
    );
  });
});
