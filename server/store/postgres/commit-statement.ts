/**
 * A commit is one statement, so that it is one round trip and a transaction of its own: nothing is left open when a server or its
 * client dies. It changes the table of records by one INSERT alone: CockroachDB refuses a statement that changes a table twice, and
 * one INSERT in the order of the keys takes all its locks in one order.
 *
 * How its expectations hold until it takes effect, at READ COMMITTED (`docs/decisions/0010-postgresql.md` has the reasons):
 * - the row of a key that is expected and not changed is locked FOR SHARE; what is compared is the row that was locked;
 * - the row of a key that is changed is looked at first and changed only if it still has the revision that was seen: the update
 *   divides by zero otherwise, which undoes the statement, and it is made again;
 * - a key that is expected absent and not changed is deleted: a deletion leaves a row, which can be locked.
 *
 * A deleted key's row stays for some minutes with no value, so that its revision goes on growing, whatever the clock does.
 */
import type { Batch, Key } from '../record-store.ts';
import { encodeCounter } from '../counter.ts';
import { bigint, bigintArray, byteaArray, readBigint } from './binary-arrays.ts';
import type { Row, Statement } from './postgres-connection.ts';

/** Microseconds since 1970: revisions of one key grow also where its row is long gone. Exact in a double until the year 2255. */
export const CLOCK = '(extract(epoch from clock_timestamp()) * 1000000)::bigint';

const ADDED = `set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte('\\x0000000000000000'::bytea,
  0, ((SUM >> 56) & 255)::int), 1, ((SUM >> 48) & 255)::int), 2, ((SUM >> 40) & 255)::int),
  3, ((SUM >> 32) & 255)::int), 4, ((SUM >> 24) & 255)::int), 5, ((SUM >> 16) & 255)::int),
  6, ((SUM >> 8) & 255)::int), 7, (SUM & 255)::int)`;

/** The sum of two counters as a counter, by functions that all three engines have. */
function sumOf(left: string, right: string): string {
  return ADDED.replaceAll('SUM', `(${counterOf(left)} + ${counterOf(right)})`);
}

function counterOf(bytes: string): string {
  const parts = Array.from({ length: 8 }, (_, at) => `(get_byte(${bytes}, ${at})::bigint << ${56 - 8 * at})`);
  return `(${parts.join(' | ')})`;
}

/** `$6` says of each change whether it is a put or deletion (0) or an addition (1); previous is -1 where any revision will do. */
function commitText(lockFirst: boolean): string {
  return `
with guard as (
  select key, expected from unnest($2::bytea[], $3::bigint[]) as g(key, expected)
), held as (
  select key, case when value is null then 0 else revision end as revision
  from coffer_records where key = any($2::bytea[]) order by key for share
), change as (
  select key, value, expected, added, ord
  from unnest($4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[]) with ordinality as c(key, value, added, expected, ord)
), seen as (
  select key, value, revision from coffer_records where key = any($4::bytea[])
  ${lockFirst ? 'order by key for update' : ''}
), based as (
  select change.key, change.value, change.expected, change.added, change.ord,
    case when change.added = 1 then seen.value end as old,
    coalesce(seen.revision, 0) as previous,
    case when seen.value is null then 0 else seen.revision end as current
  from change left join seen on seen.key = change.key
), problem as (
  select 1 as what, guard.key from guard left join held on held.key = guard.key
  where coalesce(held.revision, 0) <> guard.expected
  union all
  select 1, key from based where expected <> current
  union all
  select 2, key from based where added = 1 and octet_length(old) <> 8
), stamp as (
  select greatest(${CLOCK}, $8::bigint + 1, max(previous) + 1) as revision from based
), written as (
  insert into coffer_records as r (key, value, revision, previous)
  select based.key,
    case when based.added = 1 and based.expected is not null and based.old is not null
      then ${sumOf('based.old', 'based.value')} else based.value end,
    stamp.revision,
    case when based.added = 1 and based.expected is null then -1 else based.previous end
  from based cross join stamp where not exists (select 1 from problem)
  order by based.ord
  on conflict (key) do update set
    value = case when excluded.previous = -1 and octet_length(r.value) = 8
      then ${sumOf('r.value', 'excluded.value')} else excluded.value end,
    revision = case when excluded.previous = r.revision then excluded.revision
      when excluded.previous = -1 and (r.value is null or octet_length(r.value) = 8)
      then greatest(excluded.revision, r.revision + 1)
      else excluded.revision % (r.revision - r.revision) end,
    previous = r.revision
  returning r.revision
), buried as (
  insert into coffer_deletions (revision, key)
  select stamp.revision, based.key from based cross join stamp
  where based.value is null and not exists (select 1 from problem)
), noted as (
  insert into coffer_commits (id, made, committed)
  select $1::bytea, stamp.revision, true from stamp where not exists (select 1 from problem)
  returning made
)
select 0 as what, null::bytea as key, coalesce((select min(revision) from written), made) as revision from noted
union all
select what, key, null::bigint from problem`;
}

export const commitStatement: Statement = { name: 'coffer_commit', text: commitText(false) };

/** Queues for the rows it changes, where looking first failed: one of many who change a key gets its turn for certain. */
export const queueingCommitStatement: Statement = { name: 'coffer_commit_queueing', text: commitText(true) };

/** Taken when the commit is made: what the caller does to its buffers afterwards changes nothing. */
export function commitParameters(batch: Batch, floor: () => number): () => readonly Buffer[] {
  const changes = changesOf(batch);
  const guards: { readonly key: Key; readonly expected: number }[] = [];
  for (const expectation of batch.expect ?? []) {
    const expected = expectation.kind === 'absent' ? 0 : revisionNumber(expectation.revision);
    const text = expectation.key.toString('latin1');
    const change = changes.get(text);
    if (change !== undefined && change.expected === undefined) change.expected = expected;
    else if (change === undefined && expected === 0)
      changes.set(text, { key: expectation.key, value: null, added: 0, expected });
    else if (change?.expected !== expected) guards.push({ key: expectation.key, expected });
  }
  const ordered = [...changes.values()].toSorted(byAdditionThenKey);
  const fixed = [
    Buffer.from(batch.id, 'hex'),
    byteaArray(guards.map(({ key }) => key)),
    bigintArray(guards.map(({ expected }) => expected)),
    byteaArray(ordered.map(({ key }) => key)),
    byteaArray(ordered.map(({ value }) => value)),
    bigintArray(ordered.map(({ added }) => added)),
    bigintArray(ordered.map(({ expected }) => expected ?? null)),
  ];
  return () => [...fixed, bigint(floor())];
}

interface Change {
  readonly key: Key;
  readonly value: Buffer | null;
  readonly added: 0 | 1;
  expected?: number;
}

function changesOf(batch: Batch): Map<string, Change> {
  const changes = new Map<string, Change>();
  for (const { key, value } of batch.put ?? []) changes.set(key.toString('latin1'), { key, value, added: 0 });
  for (const key of batch.delete ?? []) changes.set(key.toString('latin1'), { key, value: null, added: 0 });
  for (const { key, delta } of batch.add ?? []) {
    changes.set(key.toString('latin1'), { key, value: encodeCounter(delta), added: 1 });
  }
  return changes;
}

/** Counters last: many writers share them, and the time that one is locked is what its writers wait for each other. */
function byAdditionThenKey(left: Change, right: Change): number {
  return left.added - right.added || left.key.compare(right.key);
}

/** No key has a revision of -1: what cannot be a revision never holds. */
function revisionNumber(revision: number): number {
  return Number.isSafeInteger(revision) && revision > 0 ? revision : -1;
}

/** What the statement answered. */
export type CommitAnswer =
  | { readonly kind: 'committed'; readonly revision: number }
  | { readonly kind: 'conflict'; readonly key: Key }
  | { readonly kind: 'no-counter'; readonly key: Key };

export function commitAnswer(batch: Batch, rows: readonly Row[]): CommitAnswer {
  const failed = new Set<string>();
  let noCounter: Key | undefined;
  for (const [what, key, revision] of rows) {
    const kind = what?.readInt32BE(what.length - 4);
    if (kind === 0 && revision) return { kind: 'committed', revision: readBigint(revision) };
    if (kind === 1 && key) failed.add(key.toString('latin1'));
    if (kind === 2 && key) noCounter = key;
  }
  const first = (batch.expect ?? []).find(({ key }) => failed.has(key.toString('latin1')));
  if (first !== undefined) return { kind: 'conflict', key: Buffer.from(first.key) };
  if (noCounter !== undefined) return { kind: 'no-counter', key: noCounter };
  throw new Error('the commit statement answered nothing that it can answer');
}
