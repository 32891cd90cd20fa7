import type { Statement, Row } from './connection.ts';
import { groupOf, type Key, type ScanItem, type ScanRange } from '../record-store.ts';
import { after, endOf, KEY_LIMIT } from '../keys.ts';
import { bigint, readBigint } from './binary-arrays.ts';

/**
 * Reads by key. Each page of a scan is one statement that starts where the last one ended. No cursor stays open between pages, so the
 * database keeps no old rows for a slow reader. The lengths of the values, which are known without reading them, limit a page's bytes.
 */

const LIVE = 'value is not null';

export const getStatement: Statement = {
  name: 'coffer_get',
  text: `select key, value, revision from coffer_records where key = $1::bytea and ${LIVE}`,
};

export const getAllStatement: Statement = {
  name: 'coffer_get_all',
  text: `select key, value, revision from coffer_records where key = any($1::bytea[]) and ${LIVE}`,
};

/** `$1` is inclusive and `$2` exclusive. A page has at most `$3` rows, and ends after `$4` bytes of values. */
function pageText(direction: 'asc' | 'desc'): string {
  return `select key, value, revision from (
    select key, value, revision,
      sum(octet_length(value)) over (order by key ${direction} rows between unbounded preceding and current row)
        - octet_length(value) as before
    from coffer_records where key >= $1::bytea and key < $2::bytea and ${LIVE}
    order by key ${direction} limit $3::bigint
  ) as page where before < $4::bigint order by key ${direction}`;
}

const pageStatement: Statement = { name: 'coffer_page', text: pageText('asc') };
const reversePageStatement: Statement = { name: 'coffer_reverse_page', text: pageText('desc') };

/**
 * Reads a page of a collapsing scan: it steps from one entry or group to the next by the index and skips the keys of a group. `$5` is
 * the prefix and `$6` the delimiter. The keys of a group sort before the bytes in front of its delimiter followed by `$7`. The rule is
 * that of `groupOf`: the delimiter counts only within the part that the prefix ends in.
 */
const collapsingPageStatement: Statement = {
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

/** The limits of a page, which is one round trip and stays in memory. A page may exceed the bytes by one value. */
const PAGE_ITEMS = 1000;
const PAGE_BYTES = 1024 * 1024;

type Collapse = NonNullable<ScanRange['collapse']>;

/** The way of reading changes if there are this many times more rows than items, or more items than groups. */
const MOSTLY = 4;

type Read = (statement: Statement, values: readonly Buffer[]) => Promise<readonly Row[]>;

interface Page {
  readonly items: readonly ScanItem[];
  /** The start of the next page (its exclusive end in a reverse scan). Undefined after the last page. */
  readonly next: Key | undefined;
  /** The better way to read the next page: true to step from group to group, false to read row by row. */
  readonly stepping: boolean;
}

export async function* scanPages(read: Read, range: ScanRange): AsyncIterable<ScanItem> {
  if (range.reverse === true && range.collapse !== undefined) {
    throw new RangeError('a collapsing scan only goes forwards');
  }
  let { start, end } = range;
  let stepping = false;
  for (let left = range.limit ?? Infinity; left > 0;) {
    if (start.compare(end) >= 0) return;
    const limit = Math.min(left, PAGE_ITEMS);
    const page = await readPage(read, { ...range, start, end }, limit, stepping);
    yield* page.items;
    left -= page.items.length;
    if (page.next === undefined) return;
    if (range.reverse === true) end = page.next;
    else start = page.next;
    ({ stepping } = page);
  }
}

async function readPage(read: Read, range: ScanRange, limit: number, stepping: boolean): Promise<Page> {
  const bounds = [range.start, range.end, bigint(limit), bigint(PAGE_BYTES)];
  const { collapse } = range;
  if (collapse !== undefined && collapse.delimiter.length > 0) {
    return stepping ? readStepping(read, bounds, collapse, limit) : readCollapsing(read, bounds, collapse, limit);
  }
  const rows = await read(range.reverse === true ? reversePageStatement : pageStatement, bounds);
  const last = isLast(rows, limit) ? undefined : rows.at(-1)?.[0];
  const next = last ? (range.reverse === true ? last : after(last)) : undefined;
  return { items: rows.map(entryItem), next, stepping: false };
}

/** Reads row by row, which is five times cheaper for keys without a group. It skips the rest of the last group. */
async function readCollapsing(read: Read, bounds: Buffer[], collapse: Collapse, limit: number): Promise<Page> {
  const rows = await read(pageStatement, bounds);
  const items: ScanItem[] = [];
  let group: Buffer | undefined;
  for (const row of rows) {
    const entry = entryOf(row);
    const groupHere = groupOf(entry.key, collapse);
    if (groupHere === undefined) items.push({ kind: 'entry', ...entry });
    else if (group?.equals(groupHere) !== true) items.push({ kind: 'group', prefix: groupHere });
    group = groupHere;
  }
  const last = isLast(rows, limit) ? undefined : rows.at(-1)?.[0];
  const next = last ? (group === undefined ? after(last) : endOf(group)) : undefined;
  return { items, next, stepping: items.length * MOSTLY < rows.length };
}

/** Steps from one item to the next by the index, which costs the same for groups of any size. */
async function readStepping(read: Read, bounds: Buffer[], collapse: Collapse, limit: number): Promise<Page> {
  const { prefix, delimiter } = collapse;
  const rows = await read(collapsingPageStatement, [...bounds, prefix, delimiter, endOfDelimited(delimiter)]);
  const items = rows.map(groupOrEntry);
  const next = isLast(rows, limit) ? undefined : (rows.at(-1)?.[4] ?? undefined);
  const groups = items.filter(({ kind }) => kind === 'group').length;
  return { items, next, stepping: groups * MOSTLY >= items.length };
}

/** A page below both limits has reached the end of its range. */
function isLast(rows: readonly Row[], limit: number): boolean {
  return rows.length < limit && rows.reduce((bytes, [, value]) => bytes + (value?.length ?? 0), 0) < PAGE_BYTES;
}

/** Returns the bytes that replace the delimiter in the first key after a group. For a delimiter of FF alone they sort after every key. */
function endOfDelimited(delimiter: Buffer): Buffer {
  return delimiter.every((byte) => byte === 0xff)
    ? Buffer.alloc(delimiter.length + KEY_LIMIT + 1, 0xff)
    : endOf(delimiter);
}

function groupOrEntry(row: Row): ScanItem {
  const grouped = row[3];
  return grouped ? { kind: 'group', prefix: grouped } : entryItem(row);
}

function entryItem(row: Row): ScanItem {
  return { kind: 'entry', ...entryOf(row) };
}

/** `key`, `value`, `revision`. */
export function entryOf([key, value, revision]: Row): { key: Key; value: Buffer; revision: number } {
  if (!key || !value || !revision) throw new Error('a row has no key, value or revision');
  return { key, value, revision: readBigint(revision) };
}
