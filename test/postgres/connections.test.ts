import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { key } from '../../server/store/keys.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { isStoreError } from '../../server/store/store-error.ts';
import { commitId } from '../support/store/patient.ts';
import { startPostgres, type TestDatabase, type TestPostgres } from '../support/server/postgres.ts';
import { commitsHavePlaces } from '../support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

const log = pino({ enabled: false });
const timeouts = { connect: 1000, statement: 1000, answer: 1500 };

let server: TestPostgres;
let database: TestDatabase;
let store: RecordStore;

beforeAll(async () => {
  server = await startPostgres({ settings: { max_connections: '30' } });
});
afterAll(() => server.remove());
beforeEach(async () => {
  database = await server.createDatabase();
  store = await openPostgresRecordStore({ ...database, log, timeouts });
});
afterEach(() => store.close());

const name = () => new URL(database.url).pathname.slice(1);

function put() {
  const id = commitId();
  return store.commit({ id, put: [{ key: key('r', id), value: Buffer.from(id) }] });
}

async function sessions(where = ''): Promise<number> {
  const [row] = await server.asSuperuser(
    `select count(*)::int as count from pg_stat_activity where datname = '${name()}' and usename = 'coffer' ${where}`,
  );
  return Number(row?.['count']);
}

function unreachable(error: unknown): undefined {
  if (!isStoreError(error, 'unreachable')) throw error;
}

describe.each([
  ['renamed', `alter table coffer_meta rename to away`, `alter table away rename to coffer_meta`],
  ['forbidden', `revoke select on coffer_meta from coffer`, `grant select on coffer_meta to coffer`],
])('while the table of the format is %s', (_what, away, back) => {
  it('no connection is left behind, and the store goes on by itself afterwards', async () => {
    await server.asSuperuser(away, name());
    await server.asSuperuser(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name()}' and usename = 'coffer'`,
    );
    for (let round = 0; round < 20; round += 1) {
      await Promise.all([store.get(key('a')).catch(unreachable), put().catch(unreachable)]);
    }
    await sleep(100);
    expect(await sessions()).toBeLessThanOrEqual(8);
    await server.asSuperuser(back, name());
    expect(await put()).toMatchObject({ kind: 'committed' });
  });
});

it('serves on with what is open when other programs took the rest, and leaves them a few', async () => {
  expect(await put()).toMatchObject({ kind: 'committed' });
  // 30 connections, 3 of them for superusers.
  const others = await Promise.all(
    Array.from({ length: 22 }, () => openPostgresRecordStore({ ...database, log, timeouts, connections: 2 })),
  );
  for (const other of others) await other.get(key('a')).catch(unreachable);
  const outcomes = await Promise.all(Array.from({ length: 30 }, () => put()));
  expect(outcomes.every(({ kind }) => kind === 'committed')).toBe(true);
  for (let round = 0; round < 20; round += 1) expect(await put()).toMatchObject({ kind: 'committed' });
  expect(await server.asSuperuser('select 1 as one')).toEqual([{ one: 1 }]);
  await Promise.all(others.map((other) => other.close()));
});

it('refuses tables that a crash would empty', async () => {
  await server.asSuperuser('alter table coffer_records set unlogged', name());
  const other = await openPostgresRecordStore({ ...database, log, timeouts });
  try {
    await expect(other.get(key('a'))).rejects.toThrow('coffer_records of PostgreSQL');
  } finally {
    await other.close();
  }
});

it('reads the file of the password again when the password is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-password-'));
  try {
    const passwordFile = join(folder, 'password');
    await server.asSuperuser(`create role rotated login password 'first' in role coffer`);
    const url = database.url.replace('coffer@', 'rotated@');
    const other = await openPostgresRecordStore({ url, password: 'first', passwordFile, log, timeouts });
    await writeFile(passwordFile, 'second\n');
    await server.asSuperuser(`alter role rotated password 'second'`);
    await other.get(key('a'));
    await server.asSuperuser(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'rotated'`);
    await expect.poll(() => other.get(key('a')).then(() => 'read', String)).toBe('read');
    await other.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});
