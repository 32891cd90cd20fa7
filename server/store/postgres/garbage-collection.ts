import type { Logger } from '../../../platform/logger.ts';
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

/** Walks through the ids in pages. Ids are random, so every page has as many old ones, and no index by age is needed. */
const forgetCommits: Statement = {
  name: 'coffer_forget_commits',
  text: `with page as (
    select id, made from coffer_commits where id > $1::bytea order by id limit $2::bigint
  ), gone as (
    delete from coffer_commits where id in (select id from page where made < ${CLOCK} - $3::bigint)
  )
  select (select id from page order by id desc limit 1), (select count(*) from page),
    (select count(*) from page where made < ${CLOCK} - $3::bigint)`,
};

interface GarbageCollectionOptions {
  readonly run: <T>(use: (connection: PooledConnection) => Promise<T>) => Promise<T>;
  readonly log: Logger;
  readonly random: () => number;
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
    const { run, keepDeleted = KEEP_DELETED, keepCommits = KEEP_COMMITS } = this.#options;
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
  }
}

function countOf(count: Buffer | null | undefined): number {
  return count ? readBigint(count) : 0;
}
