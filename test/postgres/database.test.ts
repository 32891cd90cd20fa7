import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { key } from '../../server/store/keys.ts';
import { commitId } from '../support/store/patient.ts';
import { describeAddress, parsePostgresAddress } from '../../platform/store-address/postgres-address.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { countRecords } from '../../server/store/postgres/read-counts.ts';
import { openSession } from '../../server/store/postgres/session.ts';
import { GarbageCollection } from '../../server/store/postgres/garbage-collection.ts';
import { commitsHavePlaces } from '../support/store/places-of-commits.ts';
import { startPostgres, type TestDatabase, type TestPostgres } from '../support/server/postgres.ts';

// The records of these tests are of no kind.
commitsHavePlaces('unchecked');

const log = pino({ enabled: false });
let server: TestPostgres;
let database: TestDatabase;
let name: string;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());
beforeEach(async () => {
  database = await server.createDatabase();
  name = new URL(database.url).pathname.slice(1);
});

function open(more: { readonly url?: string; readonly password?: string } = {}) {
  return openPostgresRecordStore({ ...database, ...more, log, connections: 2 });
}

function put(value: string) {
  return { id: commitId(), put: [{ key: key('a'), value: Buffer.from(value) }] };
}

describe('the tables', () => {
  it('are made by the first of many replicas that start at once', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));
    await Promise.all(stores.map((store, index) => store.commit(put(String(index)))));
    await Promise.all(stores.map((store) => store.close()));
    expect(await server.asSuperuser(`select value from coffer_meta where name = 'format'`, name)).toEqual([
      { value: '3' },
    ]);
  }, 180_000);

  it('of a newer server are refused', async () => {
    await (await open()).close();
    await server.asSuperuser(`update coffer_meta set value = '7' where name = 'format'`, name);
    await expect(open()).rejects.toThrow(/have format 7, this server knows formats up to 3: start the newer server/u);
  });

  it('of format 1 are brought forward by a start, so that older servers refuse them', async () => {
    await (await open()).close();
    await server.asSuperuser(`update coffer_meta set value = '1' where name = 'format'`, name);
    await (await open()).close();
    expect(await server.asSuperuser(`select value from coffer_meta where name = 'format'`, name)).toEqual([
      { value: '3' },
    ]);
  }, 180_000);

  it('once made need no more than the right to change rows', async () => {
    await (await open()).close();
    await server.asSuperuser(
      `drop role if exists serving; create role serving login password 'p';
       revoke create on schema public from public;
       grant select, insert, update, delete on coffer_records, coffer_deletions, coffer_commits, coffer_counts, coffer_meta
         to serving`,
      name,
    );
    const url = database.url.replace('coffer@', 'serving@');
    const store = await open({ url, password: 'p' });
    expect((await store.commit(put('1'))).kind).toBe('committed');
    expect((await store.get(key('a')))?.value.toString()).toBe('1');
    await store.close();
  });
});

describe('a server that may lose what it answered', () => {
  it('is refused when it does not flush, unless the administrator answers for it', async () => {
    const careless = await startPostgres({ settings: { fsync: 'off' } });
    try {
      const { url, password } = careless;
      await expect(open({ url, password })).rejects.toThrow(
        /runs with fsync=off: a power cut would lose acknowledged commits/u,
      );
      const store = await open({ url: `${url}?trust_fsync_off=true`, password });
      expect((await store.commit(put('1'))).kind).toBe('committed');
      await store.close();
    } finally {
      await careless.remove();
    }
  }, 180_000);

  it('answers after it is durable, whatever the role’s synchronous_commit says', async () => {
    await server.asSuperuser('alter role coffer set synchronous_commit = off');
    try {
      const warnings: string[] = [];
      const loud = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
      const address = parsePostgresAddress(database.url);
      const { connection } = await openSession(address, database.password, TIMEOUTS, loud);
      const [row] = await connection.runText('show synchronous_commit');
      expect(row?.[0]?.toString()).toBe('on');
      expect(warnings.join('')).toContain('synchronous_commit=off');
      connection.close();
    } finally {
      await server.asSuperuser('alter role coffer reset synchronous_commit');
    }
  });

  it('is refused when it only reads, as a standby does', async () => {
    await server.asSuperuser('alter role coffer set default_transaction_read_only = on');
    try {
      await expect(open()).rejects.toThrow(/is read-only: it is a standby/u);
    } finally {
      await server.asSuperuser('alter role coffer reset default_transaction_read_only');
    }
  });
});

describe('what nobody can ask for any more', () => {
  it('is removed: deleted keys and old commits', async () => {
    const store = await open();
    await store.commit(put('1'));
    for (let round = 0; round < 3; round += 1) {
      const at = key('gone', String(round));
      await store.commit({ id: commitId(), put: [{ key: at, value: Buffer.from('x') }] });
      await store.commit({ id: commitId(), delete: [at] });
    }
    await tidy();
    expect(await server.asSuperuser('select count(*)::int as rows from coffer_records', name)).toEqual([{ rows: 1 }]);
    expect(await server.asSuperuser('select count(*)::int as rows from coffer_commits', name)).toEqual([{ rows: 0 }]);
    expect(await server.asSuperuser('select count(*)::int as rows from coffer_deletions', name)).toEqual([{ rows: 0 }]);
    expect(await server.asSuperuser(`select 1 as one from coffer_meta where name = 'floor'`, name)).toEqual([
      { one: 1 },
    ]);
    expect((await store.get(key('a')))?.value.toString()).toBe('1');
    await store.close();
  });

  it('keeps a key that was put again', async () => {
    const store = await open();
    await store.commit(put('1'));
    await store.commit({ id: commitId(), delete: [key('a')] });
    await store.commit(put('2'));
    await tidy();
    expect((await store.get(key('a')))?.value.toString()).toBe('2');
    await store.close();
  });

  it('leaves its revision behind, for a new primary whose clock is late', async () => {
    const store = await open();
    await store.commit(put('1'));
    const future = Date.now() * 1000 + 86_400_000_000;
    // A day ahead: as the old primary's clock may have been.
    await server.asSuperuser(`update coffer_records set revision = ${future}`, name);
    await store.commit({ id: commitId(), delete: [key('a')] });
    await server.asSuperuser(
      `delete from coffer_records; delete from coffer_deletions;
       insert into coffer_meta values ('floor', '${future + 1}')`,
      name,
    );
    await store.close();
    const after = await open();
    const outcome = await after.commit(put('2'));
    expect(outcome.kind === 'committed' && outcome.revision > future + 1).toBe(true);
    await after.close();
  });
});

it('is named in errors by its place alone', () => {
  expect(describeAddress(parsePostgresAddress('postgres://u@[::1]:5433/d?sslmode=require'))).toBe(
    'PostgreSQL at [::1]:5433/d',
  );
});

async function tidy(): Promise<void> {
  const address = parsePostgresAddress(database.url);
  const { connection } = await openSession(address, database.password, TIMEOUTS, log);
  const sweep = new GarbageCollection({
    run: (use) => use(connection),
    count: () => countRecords(connection),
    log,
    random: () => 0,
    keepCommits: 0,
    keepDeleted: 0,
  });
  await sweep.collect();
  await sweep.collect();
  connection.close();
}

const TIMEOUTS = { connect: 1000, statement: 1000, answer: 2000 };
