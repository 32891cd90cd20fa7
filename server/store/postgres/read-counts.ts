import { DatabaseError } from 'pg';
import { groupOf, isSameCount, type RecordCount } from '../record-counts.ts';
import { bigint, byteaArray, bigintArray, readBigint } from './binary-arrays.ts';
import type { PostgresConnection, Row, Statement } from './connection.ts';
import { keyHash, PRIME } from './counts.ts';

/** The counts, and those of the records that are there at the same moment. */
export interface CountedRecords {
  readonly counts: readonly RecordCount[];
  readonly found: readonly RecordCount[];
}

/** Rows per page of a walk through all records. */
const PAGE = 5_000;

const sumsStatement: Statement = {
  name: 'coffer_sums',
  text: `select name, sum(records)::bigint, sum(bytes)::bigint, ((sum(sum) % ${PRIME} + ${PRIME}) % ${PRIME})::bigint from (
    select name, records, bytes, sum from coffer_counts
    union all
    select g.name, g.records, g.bytes, g.sum from coffer_commits as c, unnest(c.groups, c.records, c.bytes, c.sums) as g(name, records, bytes, sum)
  ) as noted group by name order by name`,
};

/** The counts that no row of `coffer_counts` has yet, exactly. */
const pendingStatement: Statement = {
  name: 'coffer_pending_sums',
  text: `select g.name, sum(g.records)::bigint, sum(g.bytes)::bigint, sum(g.sum)::bigint
    from coffer_commits as c, unnest(c.groups, c.records, c.bytes, c.sums) as g(name, records, bytes, sum) group by g.name`,
};

const rowsStatement: Statement = {
  name: 'coffer_rows',
  text: `select key, octet_length(value)::bigint, revision from coffer_records
    where key > $1::bytea and value is not null order by key limit $2::bigint`,
};

const storeStatement: Statement = {
  name: 'coffer_store_counts',
  text: `insert into coffer_counts (name, records, bytes, sum)
    select name, records, bytes, sum from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[]) as g(name, records, bytes, sum)`,
};

/** A transaction that reads the tables as of one moment, while servers go on. */
const begin = 'begin isolation level repeatable read';
const everyCounted = `select 1 from coffer_meta where name = 'counts' and value = 'all'
  and not exists (select 1 from coffer_commits where committed and groups is null)`;

/** Returns the counts of all groups. Undefined where some records are in no count. */
export async function readCounts(connection: PostgresConnection): Promise<readonly RecordCount[] | undefined> {
  return atOneMoment(connection, () => sums(connection));
}

/** Returns the counts with those of all records. Undefined where some records are in no count. It reads all keys. */
export async function readCounted(connection: PostgresConnection): Promise<CountedRecords | undefined> {
  return atOneMoment(connection, async () => ({ counts: await sums(connection), found: await walk(connection) }));
}

/** Makes the counts unknown. */
export async function forgetCounts(connection: PostgresConnection): Promise<void> {
  await connection.runText(`update coffer_meta set value = '' where name = 'counts'`);
}

/** Counts all records, unless that was done. Resolves with false while another server does it. */
export async function countRecords(connection: PostgresConnection): Promise<boolean> {
  await connection.runText(begin);
  let ended = false;
  try {
    const [row] = await connection.runText(
      `select value from coffer_meta where name = 'counts' for update skip locked`,
    );
    if (row === undefined) return false;
    if (row[0]?.toString() === 'all') return true;
    const found = new Map((await walk(connection)).map((count) => [count.group.toString('latin1'), count]));
    const stored = [...found.values()].map(({ group, records, bytes, sums: [sum] }) => ({
      group,
      records,
      bytes,
      sum,
    }));
    for (const [name, records, bytes, sum] of (await connection.run(pendingStatement)).map(numbersOf)) {
      const count = found.get(name.toString('latin1'));
      const at = stored.findIndex(({ group }) => group.equals(name));
      const total = { group: name, records: count?.records ?? 0, bytes: count?.bytes ?? 0, sum: count?.sums[0] ?? 0 };
      const rest = {
        group: name,
        records: total.records - records,
        bytes: total.bytes - bytes,
        sum: (total.sum - sum) % PRIME,
      };
      if (at === -1) stored.push(rest);
      else stored[at] = rest;
    }
    await connection.runText('delete from coffer_counts');
    await connection.run(storeStatement, [
      byteaArray(stored.map(({ group }) => group)),
      bigintArray(stored.map(({ records }) => records)),
      bigintArray(stored.map(({ bytes }) => bytes)),
      bigintArray(stored.map(({ sum }) => sum)),
    ]);
    // What servers without counts have committed is counted now.
    await connection.runText(`update coffer_commits set groups = '{}' where committed and groups is null`);
    await connection.runText(`update coffer_meta set value = 'all' where name = 'counts'`);
    await connection.runText('commit');
    ended = true;
    return true;
  } finally {
    if (!ended) await connection.runText('rollback');
  }
}

async function atOneMoment<T>(connection: PostgresConnection, read: () => Promise<T>): Promise<T | undefined> {
  await connection.runText(`${begin} read only`);
  try {
    return (await connection.runText(everyCounted)).length === 0 ? undefined : await read();
  } catch (error) {
    // The tables are those of an older server, which a tool leaves as they are.
    if (error instanceof DatabaseError && (error.code === '42P01' || error.code === '42703')) return undefined;
    throw error;
  } finally {
    await connection.runText('rollback');
  }
}

const nothing = { records: 0, bytes: 0, sums: [0, 0] as const };

async function sums(connection: PostgresConnection): Promise<readonly RecordCount[]> {
  return (await connection.run(sumsStatement))
    .map(numbersOf)
    .map(([group, records, bytes, sum]) => ({ group, records, bytes, sums: [sum, 0] as const }))
    .filter((count) => !isSameCount(count, nothing));
}

async function walk(connection: PostgresConnection): Promise<readonly RecordCount[]> {
  const found = new Map<string, { readonly group: Buffer; records: number; bytes: number; sum: number }>();
  let after: Buffer = Buffer.alloc(0);
  for (;;) {
    const rows = await connection.run(rowsStatement, [after, bigint(PAGE)]);
    for (const [key, size, revision] of rows) {
      if (!key || !size || !revision) throw new Error('a row has no key, size or revision');
      const group = groupOf(key);
      const name = group.toString('latin1');
      let count = found.get(name);
      if (count === undefined) found.set(name, (count = { group, records: 0, bytes: 0, sum: 0 }));
      count.records += 1;
      count.bytes += readBigint(size);
      count.sum = (count.sum + sumOf(key, readBigint(revision))) % PRIME;
    }
    const last = rows.at(-1)?.[0];
    if (rows.length < PAGE || !last) break;
    after = last;
  }
  return [...found.values()].map(({ group, records, bytes, sum }) => ({ group, records, bytes, sums: [sum, 0] }));
}

/** Computes `hash * (revision % PRIME) % PRIME` exactly: the product has up to 62 bits. */
function sumOf(key: Buffer, revision: number): number {
  const [hash, rest] = [keyHash(key), revision % PRIME];
  const high = Math.floor(hash / 65_536);
  return (((high * rest) % PRIME) * 65_536 + (hash % 65_536) * rest) % PRIME;
}

function numbersOf([name, records, bytes, sum]: Row): [Buffer, number, number, number] {
  if (!name || !records || !bytes || !sum) throw new Error('a count has no group or number');
  return [name, readBigint(records), readBigint(bytes), readBigint(sum)];
}
