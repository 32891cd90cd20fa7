import { ProgramError } from '../../../platform/errors/program-error.ts';
import { DatabaseError } from 'pg';
import { type Attempt, tryAgain } from './errors.ts';
import type { PostgresConnection } from './connection.ts';
import type { Dialect } from './session.ts';
import { deploymentKey } from '../deployment.ts';

/** The format of the tables that this server writes. */
export const FORMAT = 3;

/** The statements of each migration, by the format that it starts from. 0 is a database without tables. */
const migrations: ReadonlyMap<number, (dialect: Dialect) => readonly string[]> = new Map([
  [0, createTables],
  // Only the records change: format 2 keeps out servers that cannot read object records of format 3.
  [1, () => []],
  [2, addCounts],
]);

function createTables(dialect: Dialect): readonly string[] {
  return [
    // A deleted key has the value null, so that its revision grows; `garbage-collection.ts` removes it later. A value of 8 bytes is also
    // stored as a number. `previous` is the revision that the row replaced, by which a commit detects concurrent changes.
    `create table coffer_records (key bytea not null primary key, value bytea, number bigint,
      revision bigint not null, previous bigint not null)`,
    // The deleted keys, in the order of their deletion.
    'create table coffer_deletions (revision bigint not null, key bytea not null, primary key (revision, key))',
    // The commits of the last hour. `committed` is false for a commit that was ruled out.
    'create table coffer_commits (id bytea not null primary key, made bigint not null, committed boolean not null)',
    ...(dialect === 'postgresql' ? vacuumSettings : []),
  ];
}

/**
 * Adds the counts of the records (`counts.ts`). The row `counts` of `coffer_meta` has the value `all` while they are those of all records:
 * of a new database at once, and of another after they were counted.
 */
function addCounts(_dialect: Dialect): readonly string[] {
  return [
    // How a commit changed the counts: an item of each array is about one key, and names its group. Null where a server without counts committed.
    `alter table coffer_commits add column if not exists groups bytea[], add column if not exists records bigint[],
      add column if not exists bytes bigint[], add column if not exists sums bigint[]`,
    `create table if not exists coffer_counts (name bytea not null primary key, records bigint not null, bytes bigint not null,
      sum bigint not null)`,
    `insert into coffer_meta (name, value)
      select 'counts', case when exists (select 1 from coffer_records) then '' else 'all' end
      on conflict (name) do nothing`,
  ];
}

/**
 * By default PostgreSQL removes dead rows when a fifth of the table is dead, which is two million of ten million records. A fill factor
 * or another storage of values made no measurable difference (`docs/decisions/0010-postgresql.md`).
 */
const vacuumSettings = [
  `alter table coffer_records set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
    toast.autovacuum_vacuum_scale_factor = 0.05)`,
  // Every row of these two tables is deleted within an hour.
  'alter table coffer_deletions set (autovacuum_vacuum_scale_factor = 0.05)',
  'alter table coffer_commits set (autovacuum_vacuum_scale_factor = 0.05)',
];

/**
 * Makes or migrates the tables. Several servers may do this at once. Throws `ProgramError` for tables of a newer server. Once the
 * tables have this format, a role without rights to change tables is enough.
 *
 * @param mayBegin rejects where the tables of a new store must not be made. It is asked before any change of a database whose records name no
 * deployment: a restore would find its tables there already, and a migration would meet one that is half done.
 */
export async function prepareTables(
  connection: PostgresConnection,
  { dialect, where, mayBegin }: { dialect: Dialect; where: string; mayBegin: () => Promise<void> },
): Promise<void> {
  await tryAgain({ attempts: 20, milliseconds: 30_000, random: Math.random }, async (): Promise<Attempt<void>> => {
    const found = await formatOf(connection);
    if (found > FORMAT) throw newerTables(where, found);
    if (found === FORMAT) return { kind: 'done', result: undefined };
    if (found === 0 || !(await hasDeployment(connection))) await mayBegin();
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

/** Checks the tables without a change of them. Throws `ProgramError` where there are none, and for those of a newer server. */
export async function checkTables(connection: PostgresConnection, where: string): Promise<void> {
  const found = await formatOf(connection);
  if (found > FORMAT) throw newerTables(where, found);
  if (found === 0)
    throw new ProgramError('record-file', `${where} has no tables of Coffer: name the database of the records`);
}

function newerTables(where: string, found: number): ProgramError {
  return new ProgramError(
    'newer-format',
    `the tables of ${where} have format ${found}, this server knows formats up to ${FORMAT}: ` +
      'start the newer server that wrote them',
  );
}

/** Error codes of a migration that another server runs at the same time. */
const concurrently = new Set(['23505', '42P07', '42P01', '42701', '40001', '40P01', '55P03', 'XX000']);

async function bringForward(connection: PostgresConnection, dialect: Dialect, found: number): Promise<void> {
  // The store scans ranges of keys. By default YugabyteDB distributes rows by a hash of the key.
  if (dialect === 'yugabytedb') await connection.runText('set yb_use_hash_splitting_by_default = off');
  await connection.runText('begin');
  if (found === 0) {
    await connection.runText('create table coffer_meta (name text not null primary key, value text not null)');
    await connection.runText(`insert into coffer_meta (name, value) values ('format', '0')`);
  }
  // The lock makes other servers wait here; afterwards they find nothing to do.
  const [row] = await connection.runText(`select value from coffer_meta where name = 'format' for update`);
  for (let format = Number(row?.[0]?.toString()); format < FORMAT; format += 1) {
    for (const statement of migrations.get(format)?.(dialect) ?? []) await connection.runText(statement);
  }
  await connection.runText(`update coffer_meta set value = '${FORMAT}' where name = 'format'`);
  await connection.runText('commit');
}

async function hasDeployment(connection: PostgresConnection): Promise<boolean> {
  const name = deploymentKey.toString('hex');
  const rows = await connection.runText(
    `select 1 from coffer_records where key = decode('${name}', 'hex') and value is not null`,
  );
  return rows.length > 0;
}

/** Returns 0 if there are no tables. */
async function formatOf(connection: PostgresConnection): Promise<number> {
  try {
    const [row] = await connection.runText(`select value from coffer_meta where name = 'format'`);
    return Number(row?.[0]?.toString() ?? 0);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '42P01') return 0;
    throw error;
  }
}
