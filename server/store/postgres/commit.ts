import type { Batch, Key } from '../record-store.ts';
import { encodeCounter } from '../commits.ts';
import { groupOf } from '../record-counts.ts';
import { bigint, bigintArray, byteaArray, rawBigintArray, readBigint } from './binary-arrays.ts';
import type { Row, Statement } from './connection.ts';
import { keyHash, PRIME } from './counts.ts';

/**
 * A commit is one statement: one round trip and one transaction, so that nothing stays open if a server or its client dies. It changes
 * the table of records by a single INSERT: CockroachDB refuses a statement that changes a table twice, and one INSERT in the order of
 * the keys takes all locks in one order.
 *
 * Its expectations hold until it takes effect, at READ COMMITTED (`docs/decisions/0010-postgresql.md` has the reasons):
 * - the row of a key that is expected but not changed is locked FOR SHARE, and the locked row is compared;
 * - the row of a changed key is read first, and changed only if its revision is still the same. Otherwise the update divides by zero,
 *   which rolls the statement back, and the commit tries again;
 * - a key that is expected absent but not changed is deleted, because a deletion leaves a row that can be locked;
 * - a counter with a maximum is compared when it is read, and again when its row is locked. There a sum that is too large divides by zero,
 *   and the next attempt reads the larger counter.
 *
 * The row of a deleted key remains for some minutes without a value, so that the revision of the key grows whatever the clock does.
 */

/** Microseconds since 1970. A key's revision grows even after its row is gone. Exact in a double until the year 2255. */
export const CLOCK = '(extract(epoch from clock_timestamp()) * 1000000)::bigint';

/** Optional parts of the statement. Most commits need few of them, and omitted parts cost nothing at execution. */
interface Shape {
  readonly guards: boolean;
  readonly deletions: boolean;
  readonly additions: boolean;
  /** Some of the additions have a maximum. */
  readonly maxima: boolean;
  /** Notes how the counts change (`counts.ts`). */
  readonly counts: boolean;
  /** Locks the rows before it reads them, after optimistic attempts failed. Of many writers of one key, each then gets its turn. */
  readonly queueing: boolean;
}

/**
 * `number` is a value of 8 bytes as a number, so that additions need not parse bytes. `$6` is 1 for each change that is an addition. The
 * previous revision is -1 if it does not matter. An addition with a maximum has it there, as -2 less the maximum, because only the
 * columns of the table reach the update.
 */
function commitText({ guards, deletions, additions, maxima, counts, queueing }: Shape): string {
  const next = parametersFrom(8);
  const guarding = guards ? { keys: next(), expected: next() } : undefined;
  const limit = maxima ? limitText(next()) : noLimit;
  const count = counts ? countText({ hashes: next(), groups: next() }) : noCount;
  return `
with change as (
  select key, value, number, expected, added, ${limit.column}${count.columns}ord
  from unnest($3::bytea[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bigint[]${limit.parameter}${count.parameters})
    with ordinality as c(key, value, number, added, expected, ${limit.column}${count.columns}ord)
), seen as (
  select key, value is null as dead, number, revision${count.size} from coffer_records where key = any($3::bytea[])
  ${queueing ? 'order by key for update' : ''}
), based as (
  select change.key, change.value, change.number, change.expected, change.added, ${limit.column}${count.columns}change.ord,
    seen.number as old${count.seen}, seen.dead, coalesce(seen.revision, 0) as previous,
    case when seen.dead then 0 else coalesce(seen.revision, 0) end as current
  from change left join seen on seen.key = change.key
), ${
    guarding
      ? `guard as (
  select key, expected from unnest(${guarding.keys}::bytea[], ${guarding.expected}::bigint[]) as g(key, expected)
), held as (
  select key, case when value is null then 0 else revision end as revision
  from coffer_records where key = any(${guarding.keys}::bytea[]) order by key for share
), `
      : ''
  }problem as materialized (
  ${
    guards
      ? `select 1 as what, guard.key from guard left join held on held.key = guard.key
  where coalesce(held.revision, 0) <> guard.expected
  union all`
      : ''
  }
  select ${additions ? `case when expected <> current ${limit.orTooLarge} then 1 else 2 end` : '1'} as what,
    key from based
  where expected <> current ${additions ? 'or (added = 1 and not dead and old is null)' : ''} ${limit.orTooLarge}
), stamp as materialized (
  select greatest(${CLOCK}, $1::bigint + 1, max(previous) + 1) as revision from based
  having not exists (select 1 from problem)
), written as (
  insert into coffer_records as r (key, value, number, revision, previous)
  select based.key,
    ${additions ? `case when added = 1 and expected is not null and not dead then ${counter('old + number')} else value end` : 'value'},
    ${additions ? `case when added = 1 and expected is not null and not dead then old + number else number end` : 'number'},
    stamp.revision,
    ${additions ? `case when added = 1 and expected is null then ${limit.previous} else previous end` : 'previous'}
  from based cross join stamp order by ord
  on conflict (key) do update set
    ${
      additions
        ? `value = case when ${limit.isAddition} and r.number is not null
      then ${counter('r.number + excluded.number')} else excluded.value end,
    number = case when ${limit.isAddition} and r.number is not null
      then r.number + excluded.number else excluded.number end,`
        : 'value = excluded.value, number = excluded.number,'
    }
    revision = case when excluded.previous = r.revision then excluded.revision
      ${
        additions
          ? `when ${limit.isAddition} and (r.value is null or r.number is not null)
        ${limit.andFits}
      then greatest(excluded.revision, r.revision + 1)`
          : ''
      }
      else excluded.revision % (r.revision - r.revision) end,
    previous = ${count.replaced}
  ${count.returning ?? (additions ? 'returning r.revision' : '')}
), ${count.changes}${
    deletions
      ? `buried as (
  insert into coffer_deletions (revision, key)
  select stamp.revision, based.key from based cross join stamp where based.value is null
), `
      : ''
  }noted as (
  insert into coffer_commits (id, made, committed${count.into}) select $2::bytea, revision, true${count.noted} from stamp${count.from} returning made
)
select 0 as what, null::bytea as key, ${additions ? 'coalesce((select min(revision) from written), made)' : 'made'} as revision
from noted
union all
select what, key, null::bigint from problem`;
}

/** Returns the names of the parameters of a statement, one after the other. */
function parametersFrom(first: number): () => string {
  let next = first;
  return () => `$${next++}`;
}

/** The clauses of the statement that note how the counts change. */
type CountText = Readonly<
  Record<'columns' | 'parameters' | 'size' | 'seen' | 'replaced' | 'changes' | 'into' | 'noted' | 'from', string>
> & { readonly returning?: string };

const noCount: CountText = {
  columns: '',
  parameters: '',
  size: '',
  seen: '',
  replaced: 'r.revision',
  changes: '',
  into: '',
  noted: '',
  from: '',
};

/**
 * The row that a change replaced is known for certain only where it is locked: `previous` keeps its revision, below zero for that of a
 * deleted key. A row that was seen deleted may be gone when the new one is inserted, which keeps what was seen. Counters have 8 bytes,
 * whatever another writer has added meanwhile.
 */
function countText({ hashes, groups }: Readonly<Record<'hashes' | 'groups', string>>): CountText {
  const replacedOne = 'written.previous > 0 and not (based.dead and based.previous = written.previous)';
  return {
    columns: 'hash, name, ',
    parameters: `, ${hashes}::bigint[], ${groups}::bytea[]`,
    size: ', octet_length(value) as size',
    seen: ', seen.size',
    replaced: 'case when r.value is null then -r.revision else r.revision end',
    returning: 'returning r.key, r.revision, r.previous, octet_length(r.value) as size',
    changes: `counted as (
  select array_agg(based.name) as groups,
    array_agg((case when written.size is null then 0 else 1 end - case when ${replacedOne} then 1 else 0 end)::bigint) as records,
    array_agg((coalesce(written.size, 0)
      - case when not (${replacedOne}) then 0 when based.added = 1 then 8 else based.size end)::bigint) as bytes,
    array_agg(case when written.size is null then 0 else ${sumPart('written.revision')} end
      - case when ${replacedOne} then ${sumPart('written.previous')} else 0 end) as sums
  from written join based on based.key = written.key
), `,
    into: ', groups, records, bytes, sums',
    noted: `, coalesce(counted.groups, '{}'), counted.records, counted.bytes, counted.sums`,
    from: ' cross join counted',
  };
}

/** The part of a record in the sum of its group. */
function sumPart(revision: string): string {
  return `based.hash * (${revision} % ${PRIME}) % ${PRIME}`;
}

/** The clauses of the statement for additions with a maximum. */
type LimitText = Readonly<
  Record<'column' | 'parameter' | 'orTooLarge' | 'isAddition' | 'previous' | 'andFits', string>
>;

const noLimit: LimitText = {
  column: '',
  parameter: '',
  orTooLarge: '',
  isAddition: 'excluded.previous = -1',
  previous: '-1',
  andFits: '',
};

function limitText(parameter: string): LimitText {
  return {
    column: 'ceiling, ',
    parameter: `, ${parameter}::bigint[]`,
    orTooLarge: 'or (added = 1 and coalesce(case when dead then 0 else old end, 0) + number > ceiling)',
    isAddition: 'excluded.previous < 0',
    previous: 'coalesce(-2 - ceiling, -1)',
    andFits: 'and (excluded.previous = -1 or coalesce(r.number, 0) + excluded.number <= -2 - excluded.previous)',
  };
}

/** Encodes a sum big-endian, with functions that all three databases have. */
function counter(sum: string): string {
  return `decode(lpad(to_hex(${sum}), 16, '0'), 'hex')`;
}

const statements = new Map<string, Statement>();

function statementOf(shape: Shape): Statement {
  const parts = (['guards', 'deletions', 'additions', 'maxima', 'counts', 'queueing'] as const).filter(
    (part) => shape[part],
  );
  const name = ['coffer_commit', ...parts].join('_');
  const known = statements.get(name);
  if (known !== undefined) return known;
  const made = { name, text: commitText(shape) };
  statements.set(name, made);
  return made;
}

/** A batch as parameters of the statement. The constructor copies the bytes, so the caller may change its buffers afterwards. */
export class CommitRequest {
  readonly #batch: Batch;
  readonly #shape: Omit<Shape, 'counts' | 'queueing'>;
  readonly #changes: readonly Buffer[];
  readonly #guards: readonly Buffer[];
  readonly #maxima: readonly Buffer[];
  readonly #keys: readonly Key[];
  #counts: readonly Buffer[] | undefined;

  constructor(batch: Batch) {
    this.#batch = {
      id: batch.id,
      expect: (batch.expect ?? []).map((one) => ({ ...one, key: Buffer.from(one.key) })),
      add: (batch.add ?? []).map((one) => ({ ...one, key: Buffer.from(one.key) })),
    };
    const { changes, guards } = expectedChanges(batch);
    const ordered = changes.toSorted(byAdditionThenKey);
    this.#shape = {
      guards: guards.length > 0,
      deletions: changes.some(({ value }) => value === null),
      additions: changes.some(({ added }) => added === 1),
      maxima: changes.some(({ max }) => max !== undefined),
    };
    this.#changes = [
      Buffer.from(batch.id, 'hex'),
      byteaArray(ordered.map(({ key }) => key)),
      byteaArray(ordered.map(({ value }) => value)),
      rawBigintArray(ordered.map(({ value }) => (value?.length === 8 ? value : null))),
      bigintArray(ordered.map(({ added }) => added)),
      bigintArray(ordered.map(({ expected }) => expected ?? null)),
    ];
    this.#guards = this.#shape.guards
      ? [byteaArray(guards.map(({ key }) => key)), bigintArray(guards.map(({ expected }) => expected))]
      : [];
    this.#keys = ordered.map(({ key }) => Buffer.from(key));
    this.#maxima = this.#shape.maxima ? [bigintArray(ordered.map(({ max }) => max ?? null))] : [];
  }

  statement(options: Pick<Shape, 'counts' | 'queueing'>): Statement {
    return statementOf({ ...this.#shape, ...options });
  }

  /** Every new revision is above `floor`. */
  parameters(floor: number, { counts }: Pick<Shape, 'counts'>): readonly Buffer[] {
    const noted = counts ? (this.#counts ??= countParameters(this.#keys)) : [];
    return [bigint(floor), ...this.#changes, ...this.#guards, ...this.#maxima, ...noted];
  }

  answer(rows: readonly Row[]): CommitAnswer {
    return answerOf(this.#batch, rows);
  }
}

function countParameters(keys: readonly Key[]): readonly Buffer[] {
  return [bigintArray(keys.map(keyHash)), byteaArray(keys.map(groupOf))];
}

interface Change {
  readonly key: Key;
  readonly value: Buffer | null;
  readonly added: 0 | 1;
  /** The maximum of an addition. It is at most 2^53, as sizes are. */
  readonly max?: number | undefined;
  expected?: number;
}

interface Guard {
  readonly key: Key;
  readonly expected: number;
}

/** Returns the changes with their expectations, and the expectations of keys without a change. */
function expectedChanges(batch: Batch): { readonly changes: readonly Change[]; readonly guards: readonly Guard[] } {
  const changes = changesOf(batch);
  const guards: Guard[] = [];
  for (const expectation of batch.expect ?? []) {
    const { key } = expectation;
    const expected = expectation.kind === 'absent' ? 0 : revisionNumber(expectation.revision);
    const text = key.toString('latin1');
    const change = changes.get(text);
    if (change === undefined && expected === 0) changes.set(text, { key, value: null, added: 0, expected });
    else if (change !== undefined && change.expected === undefined) change.expected = expected;
    else if (change?.expected !== expected) guards.push({ key, expected });
  }
  return { changes: [...changes.values()], guards };
}

function changesOf(batch: Batch): Map<string, Change> {
  const changes = new Map<string, Change>();
  for (const { key, value } of batch.put ?? []) changes.set(key.toString('latin1'), { key, value, added: 0 });
  for (const key of batch.delete ?? []) changes.set(key.toString('latin1'), { key, value: null, added: 0 });
  for (const { key, delta, max } of batch.add ?? []) {
    changes.set(key.toString('latin1'), {
      key,
      value: encodeCounter(delta),
      added: 1,
      max: max === undefined ? undefined : Number(max),
    });
  }
  return changes;
}

/** Sorts counters last, so that they are locked for the shortest time: many writers share them. */
function byAdditionThenKey(left: Change, right: Change): number {
  return left.added - right.added || left.key.compare(right.key);
}

/** Maps an invalid revision to -1, which no key has. */
function revisionNumber(revision: number): number {
  return Number.isSafeInteger(revision) && revision > 0 ? revision : -1;
}

/** The result of the statement. */
type CommitAnswer =
  | { readonly kind: 'committed'; readonly revision: number }
  | { readonly kind: 'conflict'; readonly key: Key }
  | { readonly kind: 'no-counter'; readonly key: Key };

function answerOf(batch: Batch, rows: readonly Row[]): CommitAnswer {
  const failed = new Set<string>();
  let noCounter: Key | undefined;
  for (const [what, key, revision] of rows) {
    const kind = what?.readInt32BE(what.length - 4);
    if (kind === 0 && revision) return { kind: 'committed', revision: readBigint(revision) };
    if (kind === 1 && key) failed.add(key.toString('latin1'));
    if (kind === 2 && key) noCounter = key;
  }
  const first = (batch.expect ?? []).find(({ key }) => failed.has(key.toString('latin1')));
  const conflict = first ?? (batch.add ?? []).find(({ key }) => failed.has(key.toString('latin1')));
  if (conflict !== undefined) return { kind: 'conflict', key: Buffer.from(conflict.key) };
  if (noCounter !== undefined) return { kind: 'no-counter', key: noCounter };
  throw new Error('the commit statement returned no result');
}

/**
 * Rules a commit out unless it took effect: its row with this id would then violate the primary key. If the commit is in flight and has
 * written its row, the statement waits for it.
 */
export const outcomeStatement: Statement = {
  name: 'coffer_outcome',
  text: `insert into coffer_commits as c (id, made, committed) values ($1::bytea, ${CLOCK}, false)
    on conflict (id) do update set committed = c.committed returning committed`,
};
