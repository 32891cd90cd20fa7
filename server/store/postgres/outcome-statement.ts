import { CLOCK } from './commit-statement.ts';
import type { Statement } from './postgres-connection.ts';

/**
 * Rules the commit out unless it was made: its own row of this id then fails, and the whole commit with it. A commit on its way that
 * has written its row already is waited for.
 */
export const outcomeStatement: Statement = {
  name: 'coffer_outcome',
  text: `insert into coffer_commits as c (id, made, committed) values ($1::bytea, ${CLOCK}, false)
    on conflict (id) do update set committed = c.committed returning committed`,
};
