import type { Logger } from '../../../platform/output/logger.ts';
import { bigint, readBigint } from './binary-arrays.ts';
import { CLOCK } from './commit.ts';
import type { PooledConnection } from './connection-pool.ts';
import type { Statement } from './connection.ts';

/** In microseconds, like revisions. The outcome of a commit is known for an hour. */
const KEEP_COMMITS = 3_600_000_000;
/**
 * The row of a deleted key outlives every statement that began before the deletion, since the server ends statements after seconds. So
 * none of them can write a lower revision afterwards.
 */
const KEEP_DELETED = 300_000_000;
const BATCH = 500;
const PAGE = 5000;

/** Milliseconds between two rounds. Each handle of each server runs its own rounds, which may overlap. */
const INTERVAL = 10_000;
/** The maximum number of statements of each kind in a round. */
const MAX_STATEMENTS = 20;

/** Removes the oldest first. It stores the highest removed revision, because later ones must be higher whatever a new primary's clock says. */
const forgetDeleted: Statement = {
  name: 'coffer_forget_deleted',
  text: `with old as (
    delete from coffer_deletions where (revision, key) in (
      select revision, key from coffer_deletions where revision < ${CLOCK} - $1::bigint order by revision, key limit $2::bigint)
    returning revision, key
  ), gone as (
    delete from coffer_records as r using old where r.key = old.key and r.revision = old.revision and r.value is null
  ), floor as (
    insert into coffer_meta as m (name, value) select 'floor', max(revision)::text from old having max(revision) is not null
    on conflict (name) do update set value = greatest(m.value::bigint, excluded.value::bigint)::text
  )
  select count(*) from old`,
};

/**
 * Walks through the ids in pages. Ids are random, so every page has as many old ones, and no index by age is needed. What an old commit has
 * noted about the counts is added to them. A commit of a server without counts makes them unknown.
 */
const forgetCommits: Statement = {
  name: 'coffer_forget_commits',
  text: `with page as (
    select id, made from coffer_commits where id > $1::bytea order by id limit $2::bigint
  ), gone as (
    delete from coffer_commits where id in (select id from page where made < ${CLOCK} - $3::bigint)
    returning committed, groups, records, bytes, sums
  ), noted as (
    select name, sum(g.records)::bigint as records, sum(g.bytes)::bigint as bytes, sum(g.sum)::bigint as sum
    from gone, unnest(gone.groups, gone.records, gone.bytes, gone.sums) as g(name, records, bytes, sum) group by name
  ), kept as (
    insert into coffer_counts as c (name, records, bytes, sum) select name, records, bytes, sum from noted order by name
    on conflict (name) do update set records = c.records + excluded.records, bytes = c.bytes + excluded.bytes,
      sum = c.sum + excluded.sum
  ), unknown as (
    update coffer_meta set value = '' where name = 'counts' and exists (select 1 from gone where committed and groups is null)
  )
  select (select id from page order by id desc limit 1), (select count(*) from page),
    (select count(*) from page where made < ${CLOCK} - $3::bigint)`,
};

/** The groups of buckets that are gone. */
const forgetGroups: Statement = {
  name: 'coffer_forget_groups',
  text: 'delete from coffer_counts where records = 0 and bytes = 0 and sum = 0',
};

const countedStatement: Statement = {
  name: 'coffer_counted',
  text: `select 1::bigint from coffer_meta where name = 'counts' and value = 'all'`,
};

interface GarbageCollectionOptions {
  readonly run: <T>(use: (connection: PooledConnection) => Promise<T>) => Promise<T>;
  /** Counts all records, unless that was done. Resolves with false while another server does it. */
  readonly count: () => Promise<boolean>;
  readonly log: Logger;
  readonly random: () => number;
  readonly alsoEachRound?: () => Promise<void> | undefined;
  readonly keepCommits?: number;
  readonly keepDeleted?: number;
}

/** Removes rows of deleted keys and old commits, a few at a time. */
export class GarbageCollection {
  readonly #options: GarbageCollectionOptions;
  #after: Buffer;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: GarbageCollectionOptions) {
    this.#options = options;
    this.#after = Buffer.of(Math.floor(options.random() * 256));
  }

  start(): void {
    // The random delay spreads servers that were started together.
    this.#timer = setTimeout(() => void this.#round(), INTERVAL * (0.5 + this.#options.random()));
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #round(): Promise<void> {
    try {
      await this.#options.alsoEachRound?.();
      await this.collect();
    } catch (error) {
      this.#options.log.debug(
        { err: error },
        'old rows could not be removed from PostgreSQL; the next round tries again',
      );
    }
    if (this.#timer !== undefined) this.start();
  }

  /** Runs one round. */
  async collect(): Promise<void> {
    const { run, count, keepDeleted = KEEP_DELETED, keepCommits = KEEP_COMMITS } = this.#options;
    for (let statements = 0; statements < MAX_STATEMENTS; statements += 1) {
      const [row] = await run((connection) => connection.run(forgetDeleted, [bigint(keepDeleted), bigint(BATCH)]));
      if (countOf(row?.[0]) < BATCH) break;
    }
    for (let statements = 0; statements < MAX_STATEMENTS; statements += 1) {
      const [row] = await run((connection) =>
        connection.run(forgetCommits, [this.#after, bigint(PAGE), bigint(keepCommits)]),
      );
      const [last, seen, old] = row ?? [];
      this.#after = last && countOf(seen) === PAGE ? last : Buffer.alloc(0);
      if (countOf(old) * 10 < PAGE) break;
    }
    await run((connection) => connection.run(forgetGroups));
    // Servers without counts may have written to the tables.
    const isCounted = await run(async (connection) => (await connection.run(countedStatement)).length > 0);
    if (!isCounted) await count();
  }
}

function countOf(count: Buffer | null | undefined): number {
  return count ? readBigint(count) : 0;
}
