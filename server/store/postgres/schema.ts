import { DatabaseError } from 'pg';
import { type Attempt, tryAgain } from './errors.ts';
import type { PostgresConnection } from './connection.ts';
import type { Dialect } from './session.ts';

/** The format of the tables this server writes. */
export const FORMAT = 2;

/** The tables cannot be used; the message says why and what to do. */
export class DatabaseFormatError extends Error {
  override readonly name = 'DatabaseFormatError';
}

/** The statements that bring the tables from one format to the next, by the format they start from; 0 is a database without any. */
const migrations: ReadonlyMap<number, (dialect: Dialect) => readonly string[]> = new Map([
  [0, createTables],
  // The tables stay as they are. What is in them changes: format 2 keeps servers away that cannot read objects' records of format 3.
  [1, () => []],
]);

function createTables(dialect: Dialect): readonly string[] {
  return [
    // A value of null is a deleted key, whose revision must go on growing (`garbage-collection.ts` removes it in time). A value of 8 bytes is kept
    // as a number too. `previous` is the revision that the row replaced, by which a commit knows that nobody came between.
    `create table coffer_records (key bytea not null primary key, value bytea, number bigint,
      revision bigint not null, previous bigint not null)`,
    // Deleted keys in the order of their deletion.
    'create table coffer_deletions (revision bigint not null, key bytea not null, primary key (revision, key))',
    // Commits of the last hour, and those that were ruled out: committed is false.
    'create table coffer_commits (id bytea not null primary key, made bigint not null, committed boolean not null)',
    ...(dialect === 'postgresql' ? vacuumSettings : []),
  ];
}

/**
 * PostgreSQL removes dead rows when a fifth of a table is dead, which of ten million records is two million. No fill factor and no
 * other storage of values: neither changed anything that could be measured (`docs/decisions/0010-postgresql.md`).
 */
const vacuumSettings = [
  `alter table coffer_records set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
    toast.autovacuum_vacuum_scale_factor = 0.05)`,
  // All of these two is deleted within the hour.
  'alter table coffer_deletions set (autovacuum_vacuum_scale_factor = 0.05)',
  'alter table coffer_commits set (autovacuum_vacuum_scale_factor = 0.05)',
];

/**
 * Makes the tables, or brings older ones forward; several replicas may do it at once. Throws `DatabaseFormatError` for newer ones.
 * Tables of this format are only read: a role that may change rows and no tables is enough then.
 */
export async function prepareTables(connection: PostgresConnection, dialect: Dialect, where: string): Promise<void> {
  await tryAgain({ attempts: 20, milliseconds: 30_000, random: Math.random }, async (): Promise<Attempt<void>> => {
    const found = await formatOf(connection);
    if (found > FORMAT) {
      throw new DatabaseFormatError(
        `the tables of ${where} have format ${found}, this server knows formats up to ${FORMAT}: ` +
          'start the newer server that wrote them',
      );
    }
    if (found === FORMAT) return { kind: 'done', result: undefined };
    try {
      await bringForward(connection, dialect, found);
      return { kind: 'done', result: undefined };
    } catch (error) {
      await connection.runText('rollback');
      if (!(error instanceof DatabaseError) || !concurrently.has(error.code ?? '')) throw error;
      return { kind: 'again', error };
    }
  });
}

/** What a statement of a migration meets when another replica is ahead of it. */
const concurrently = new Set(['23505', '42P07', '42P01', '42701', '40001', '40P01', '55P03', 'XX000']);

async function bringForward(connection: PostgresConnection, dialect: Dialect, found: number): Promise<void> {
  // Rows are found by ranges of keys: YugabyteDB would spread them by a hash.
  if (dialect === 'yugabytedb') await connection.runText('set yb_use_hash_splitting_by_default = off');
  await connection.runText('begin');
  if (found === 0) {
    await connection.runText('create table coffer_meta (name text not null primary key, value text not null)');
    await connection.runText(`insert into coffer_meta (name, value) values ('format', '0')`);
  }
  // Locked: of several replicas the others wait here, and find nothing to do afterwards.
  const [row] = await connection.runText(`select value from coffer_meta where name = 'format' for update`);
  for (let format = Number(row?.[0]?.toString()); format < FORMAT; format += 1) {
    for (const statement of migrations.get(format)?.(dialect) ?? []) await connection.runText(statement);
  }
  await connection.runText(`update coffer_meta set value = '${FORMAT}' where name = 'format'`);
  await connection.runText('commit');
}

/** 0 where there are no tables yet. */
async function formatOf(connection: PostgresConnection): Promise<number> {
  try {
    const [row] = await connection.runText(`select value from coffer_meta where name = 'format'`);
    return Number(row?.[0]?.toString() ?? 0);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '42P01') return 0;
    throw error;
  }
}
