import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compareCounts } from '../../server/maintenance/verify/compare-counts.ts';
import { runCheckpoints } from '../../server/process/checkpoints.ts';
import { soleLease } from '../../server/cluster/lease.ts';
import { type Checkpoint, promote } from '../../server/store/checkpoint.ts';
import { readUnpromoted } from '../../server/store/promotion.ts';
import { key } from '../../server/store/keys.ts';
import { parsePostgresAddress } from '../../platform/store-address/postgres-address.ts';
import { GarbageCollection } from '../../server/store/postgres/garbage-collection.ts';
import { countRecords } from '../../server/store/postgres/read-counts.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { openSession } from '../../server/store/postgres/session.ts';
import type { Batch, RecordStore } from '../../server/store/record-store.ts';
import { inFullForm } from '../support/full-form.ts';
import { startPostgres, type TestDatabase, type TestPostgres } from '../support/server/postgres.ts';
import { commitId } from '../support/store/patient.ts';
import { commitsHavePlaces } from '../support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

const log = pino({ enabled: false });
let server: TestPostgres;
let database: TestDatabase;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());
beforeEach(async () => {
  database = await server.createDatabase();
});

const open = () => openPostgresRecordStore({ ...database, log, connections: 8 });
const sql = (text: string) => server.asSuperuser(text, new URL(database.url).pathname.slice(1));

async function compared(records: RecordStore): Promise<{ readonly told: boolean; readonly issues: readonly string[] }> {
  const comparing = compareCounts(records);
  const issues: string[] = [];
  for (;;) {
    const { done, value } = await comparing.next();
    if (done === true) return { told: value === undefined, issues };
    issues.push(value.message);
  }
}
const put = (name: string) => ({ key: key('o', 'bucket', name), value: Buffer.from(name) });
const whole = { told: true, issues: [] };

interface Kept {
  readonly keepCommits: number;
  readonly keepDeleted?: number;
}

async function collect({ keepCommits, keepDeleted = 0 }: Kept): Promise<void> {
  const timeouts = { connect: 5_000, statement: 10_000, answer: 15_000 };
  const { connection } = await openSession(parsePostgresAddress(database.url), database.password, timeouts, log);
  const count = () => countRecords(connection);
  const run = <T>(use: (to: typeof connection) => Promise<T>) => use(connection);
  const sweep = new GarbageCollection({ run, count, log, random: () => 0, keepCommits, keepDeleted });
  await sweep.collect();
  await sweep.collect();
  connection.close();
}

/** Few keys, so that writers meet. Those that end with `n` are counters. */
const somePlace = fc
  .tuple(fc.constantFrom('o', 'i', 'bucket'), fc.constantFrom('one', 'two'), fc.constantFrom('a', 'b'))
  .map((parts) => key(...parts));
const counter = fc.constantFrom('x', 'y').map((name) => key('count', name));
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: somePlace, size: fc.integer({ min: 0, max: 3_000 }) }) },
  { weight: 2, arbitrary: fc.record({ gone: somePlace }) },
  { weight: 2, arbitrary: fc.record({ absent: somePlace }) },
  { weight: 3, arbitrary: fc.record({ add: counter, max: fc.option(fc.constant(20n), { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ gone: counter }) },
);
const batch = fc.uniqueArray(change, {
  minLength: 1,
  maxLength: 4,
  selector: (one) =>
    Object.values(one)
      .find((value) => Buffer.isBuffer(value))
      ?.toString('hex'),
});

function batchOf(changes: readonly object[]): Batch {
  const all = changes as readonly (Partial<Record<'put' | 'gone' | 'absent' | 'add', Buffer>> & {
    readonly size?: number;
    readonly max?: bigint | undefined;
  })[];
  return {
    id: commitId(),
    put: all.flatMap(({ put, size = 0 }) => (put ? [{ key: put, value: Buffer.alloc(size, 1) }] : [])),
    delete: all.flatMap(({ gone }) => gone ?? []),
    expect: all.flatMap(({ absent }) => (absent ? [{ kind: 'absent' as const, key: absent }] : [])),
    add: all.flatMap(({ add, max }) => (add ? [{ key: add, delta: 1n, ...(max !== undefined && { max }) }] : [])),
  };
}

describe('the counts of records in a database', () => {
  it('are those of the rows, whatever commits and sweeps come at the same time', async () => {
    const records = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(batch, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 }),
        async (writers) => {
          await Promise.all([
            ...writers.map(async (batches) => {
              for (const one of batches) await records.commit(batchOf(one));
            }),
            // The row of a deleted key outlives the statements that saw it.
            collect({ keepCommits: 0, keepDeleted: 1e9 }),
          ]);
          expect(await compared(records)).toEqual(whole);
          await collect({ keepCommits: 1e9 });
          expect(await compared(records)).toEqual(whole);
        },
      ),
      { numRuns: inFullForm(60, 10) },
    );
    const counts = (await records.counts?.()) ?? [];
    await collect({ keepCommits: 0 });
    expect(await records.counts?.()).toEqual(counts);
    await records.close();
  }, 1_200_000);

  it('tell a row that is gone, of yesterday, or back again', async () => {
    const records = await open();
    await records.commit({ id: commitId(), put: ['a', 'b', 'c'].map(put) });
    await sql('create table yesterday as select * from coffer_records');
    await records.commit({ id: commitId(), put: ['a', 'd'].map(put), delete: [key('o', 'bucket', 'c')] });
    expect(await compared(records)).toEqual(whole);
    await sql('create table today as select * from coffer_records');
    for (const [damage, words] of [
      [
        `delete from coffer_records where key = (select key from coffer_records order by key desc limit 1)`,
        'should be 3, and are 2: 1 are lost',
      ],
      [
        'truncate coffer_records; insert into coffer_records select * from yesterday',
        'not those that were committed last',
      ],
      [`truncate coffer_records`, 'should be 3, and are 0: 3 are lost'],
    ] as const) {
      await sql(damage);
      expect(await compared(records)).toEqual({ told: true, issues: [expect.stringContaining(words)] });
      await sql('truncate coffer_records; insert into coffer_records select * from today');
    }
    expect(await compared(records)).toEqual(whole);
    await records.close();
  });

  it('mark the store of a server that starts on fewer records, until an administrator goes on with them', async () => {
    const records = await open();
    await records.commit({ id: commitId(), put: ['a', 'b'].map(put) });
    await sql(`delete from coffer_records where key = (select key from coffer_records order by key desc limit 1)`);
    const lines: string[] = [];
    let beside: Checkpoint | undefined;
    const marker = {
      readCheckpoint: () => Promise.resolve(beside),
      writeCheckpoint: (checkpoint: Checkpoint) => {
        beside = checkpoint;
        return Promise.resolve();
      },
    };
    const stores = { records, checks: { records: () => Promise.resolve(), bodies: () => Promise.resolve() } };
    const tasks = {
      run: (_task: string, _retryMs: number, work: () => Promise<unknown>) => work().then(() => undefined),
    };
    const said = { warn: (_fields: object, message: string) => void lines.push(message) };
    const checkpoints = runCheckpoints({ stores }, soleLease(), said, tasks, marker);
    await expect
      .poll(() => lines, { timeout: 60_000 })
      .toEqual([expect.stringMatching(/^records are missing.*coffer-store promote/)]);
    await checkpoints.stop();
    expect(beside).toBeUndefined();
    await promote({ records, marker }, randomBytes);
    expect(await compared(records)).toEqual(whole);
    expect(await readUnpromoted(records)).toBeUndefined();
    await records.close();
  });

  it('are unknown where a server without counts has committed, until they were counted again', async () => {
    const records = await open();
    await records.commit({ id: commitId(), put: [{ key: key('o', 'b', 'k'), value: Buffer.from('v') }] });
    await sql(
      `insert into coffer_records values (decode('${key('o', 'b', 'l').toString('hex')}', 'hex'), '\\x00', null, 5, 0)`,
    );
    await sql(`insert into coffer_commits (id, made, committed) values ('\\x01', 0, true)`);
    expect(await compared(records)).toEqual({ told: false, issues: [] });
    await collect({ keepCommits: 1e16 });
    expect(await compared(records)).toEqual({ told: false, issues: [] });
    await collect({ keepCommits: 1e14 });
    expect(await compared(records)).toEqual(whole);
    expect((await records.counts?.())?.map(({ records }) => records)).toEqual([2]);
    await records.close();
  });

  it('of the tables of an older server are unknown to a tool, and counted by a server', async () => {
    await (await open()).close();
    await sql(`drop table coffer_counts; alter table coffer_commits drop column groups, drop column records, drop column bytes, drop column sums;
      delete from coffer_meta where name = 'counts'; update coffer_meta set value = '2' where name = 'format';
      insert into coffer_records values (decode('${key('o', 'b', 'l').toString('hex')}', 'hex'), '\\x00', null, 5, 0)`);
    const reader = await openPostgresRecordStore({ ...database, log, readOnly: true });
    expect(await compared(reader)).toEqual({ told: false, issues: [] });
    await reader.close();
    const records = await open();
    await collect({ keepCommits: 1e14 });
    expect(await compared(records)).toEqual(whole);
    await records.close();
  });
});
