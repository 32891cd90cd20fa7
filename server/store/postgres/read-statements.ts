/**
 * Reads by key. A page of a scan is one statement that begins where the last one ended: no cursor is held open between them, so no
 * old row is kept for a slow reader. Its bytes are bounded by the lengths of the values, which are known without reading them.
 */
import type { Statement } from './postgres-connection.ts';

const LIVE = 'value is not null';

export const getStatement: Statement = {
  name: 'coffer_get',
  text: `select key, value, revision from coffer_records where key = $1::bytea and ${LIVE}`,
};

export const getAllStatement: Statement = {
  name: 'coffer_get_all',
  text: `select key, value, revision from coffer_records where key = any($1::bytea[]) and ${LIVE}`,
};

/** `$1` inclusive, `$2` exclusive, at most `$3` rows, and no more after `$4` bytes of values. */
function pageText(direction: 'asc' | 'desc'): string {
  return `select key, value, revision from (
    select key, value, revision,
      sum(octet_length(value)) over (order by key ${direction} rows between unbounded preceding and current row)
        - octet_length(value) as before
    from coffer_records where key >= $1::bytea and key < $2::bytea and ${LIVE}
    order by key ${direction} limit $3::bigint
  ) as page where before < $4::bigint order by key ${direction}`;
}

export const pageStatement: Statement = { name: 'coffer_page', text: pageText('asc') };
export const reversePageStatement: Statement = { name: 'coffer_reverse_page', text: pageText('desc') };

/**
 * A page of a collapsing scan: from one entry or group to the next by the index, never through a group. `$5` is the prefix, `$6` the
 * delimiter; a group's keys end before what comes before its delimiter, followed by `$7`. `groupOf` of `collapse.ts` is the same
 * rule: the delimiter counts only within the part that the prefix ends in.
 */
export const collapsingPageStatement: Statement = {
  name: 'coffer_collapsing_page',
  text: `with recursive page(key, value, revision, grouped, next, items, bytes) as (
    select null::bytea, null::bytea, null::bigint, null::bytea, $1::bytea, 0::bigint, 0::bigint
    union all
    select found.key, case when found.at is null then found.value end, found.revision,
      case when found.at is not null then substring(found.key from 1 for found.at + octet_length($6::bytea)) end,
      case when found.at is null then found.key || '\\x00'::bytea
        else substring(found.key from 1 for found.at) || $7::bytea end,
      page.items + 1, page.bytes + case when found.at is null then octet_length(found.value) else 0 end
    from page cross join lateral (
      select first.key, first.value, first.revision,
        case when substring(first.key from 1 for octet_length($5::bytea)) = $5::bytea and first.delimiter > 0
            and (first.terminator = 0 or first.terminator >= first.delimiter)
          then octet_length($5::bytea) + first.delimiter - 1 end as at
      from (
        select key, value, revision,
          position($6::bytea in substring(key from octet_length($5::bytea) + 1)) as delimiter,
          position('\\x00fe'::bytea in substring(key from octet_length($5::bytea) + 1)) as terminator
        from coffer_records where key >= page.next and key < $2::bytea and ${LIVE}
        order by key limit 1
      ) as first
    ) as found
    where page.items < $3::bigint and page.bytes < $4::bigint
  )
  select key, value, revision, grouped, next from page where items > 0 order by items`,
};
