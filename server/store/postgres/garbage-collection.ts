import type { Logger } from '../../../platform/logger.ts';
import { bigint, readBigint } from './binary-arrays.ts';
import { CLOCK } from './commit.ts';
import type { PostgresConnection, Statement } from './connection.ts';

/** Microseconds, as revisions are. A commit's outcome is answered for an hour. */
const KEEP_COMMITS = 3_600_000_000;
/**
 * A deleted key's row outlives every statement that may have begun before the deletion, which the server ends after seconds: none
 * can put a lower revision in its place afterwards.
 */
const KEEP_DELETED = 300_000_000;
const BATCH = 500;
const PAGE = 5000;

/** Milliseconds between two rounds; each handle of each replica makes its own, and they meet without harm. */
const INTERVAL = 10_000;
/** Statements of one round, so that it stays in the background. */
const MOST_STATEMENTS = 20;

/** Oldest first. The highest revision that is forgotten is kept: no later one may be lower, whatever a new primary's clock says. */
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

/** Ids are random: a page of them holds as many old ones as any other. No index by age has to be kept for it. */
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

interface TidyOptions {
  readonly run: <T>(use: (connection: PostgresConnection) => Promise<T>) => Promise<T>;
  readonly log: Logger;
  readonly random: () => number;
  readonly keepCommits?: number;
  readonly keepDeleted?: number;
}

/** Removes what nobody can ask for any more, a little at a time. */
export class Tidy {
  readonly #options: TidyOptions;
  #after: Buffer;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TidyOptions) {
    this.#options = options;
    this.#after = Buffer.of(Math.floor(options.random() * 256));
  }

  start(): void {
    // By chance, so that replicas started together do not tidy together.
    this.#timer = setTimeout(() => void this.#round(), INTERVAL * (0.5 + this.#options.random()));
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #round(): Promise<void> {
    try {
      await this.tidy();
    } catch (error) {
      this.#options.log.debug({ err: error }, 'what is no longer needed could not be removed from PostgreSQL; later');
    }
    if (this.#timer !== undefined) this.start();
  }

  /** One round. */
  async tidy(): Promise<void> {
    const { run, keepDeleted = KEEP_DELETED, keepCommits = KEEP_COMMITS } = this.#options;
    for (let statements = 0; statements < MOST_STATEMENTS; statements += 1) {
      const [row] = await run((connection) => connection.run(forgetDeleted, [bigint(keepDeleted), bigint(BATCH)]));
      if (countOf(row?.[0]) < BATCH) break;
    }
    for (let statements = 0; statements < MOST_STATEMENTS; statements += 1) {
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
