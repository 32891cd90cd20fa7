import type { Request } from 'express';
import { consoleError } from './console-error.ts';

/**
 * Returns a name from the query. Names are query parameters: `..` and `a/b` are valid names of a group, and browsers would normalize
 * them in a path.
 */
export function queryText(request: Request, name: string): string {
  const value = request.query[name];
  if (typeof value === 'string' && value !== '' && value.length <= 1_024) return value;
  throw consoleError('BadRequest', `The parameter ${name} is missing.`);
}

/** The page size. Memory does not grow with the length of the list. */
const rowsPerPage = 200;

interface Listing<Item, Row> {
  readonly fits: (item: Item) => boolean;
  readonly toRow: (item: Item) => Row | Promise<Row>;
  /** The sort key of an item. The items come in the byte order of their keys. */
  readonly position: (item: Item) => string;
  /** The position of the last row of the previous page. */
  readonly after?: string;
  readonly max?: number;
}

interface Listed<Row> {
  readonly rows: readonly Row[];
  /** The `after` of the next page; absent on the last page. */
  readonly next?: string;
}

/** Reads the items up to the end of a page. An item that is removed between two pages leaves no gap. */
export async function listPage<Item, Row>(
  items: AsyncIterable<Item>,
  { fits, toRow, position, after, max = rowsPerPage }: Listing<Item, Row>,
): Promise<Listed<Row>> {
  const passed = after === undefined ? undefined : Buffer.from(after);
  const rows: Row[] = [];
  let last = '';
  for await (const item of items) {
    if (passed !== undefined && Buffer.compare(Buffer.from(position(item)), passed) <= 0) continue;
    if (!fits(item)) continue;
    if (rows.length === max) return { rows, next: last };
    rows.push(await toRow(item));
    last = position(item);
  }
  return { rows };
}

/** Reads the search text and the end of the previous page from the query. */
export function listQuery({ query }: Pick<Request, 'query'>): {
  readonly fits: (...texts: readonly (string | undefined)[]) => boolean;
  readonly page: Pick<Listing<unknown, unknown>, 'after'>;
} {
  const { after } = query;
  const page = typeof after === 'string' && after !== '' ? { after: after.slice(0, 1_024) } : {};
  return { fits: matcher(query['contains']), page };
}

/** Returns a function that reports whether one of the texts contains the search text, ignoring case. */
function matcher(wanted: unknown): (...texts: readonly (string | undefined)[]) => boolean {
  const text = typeof wanted === 'string' ? wanted.trim().toLowerCase().slice(0, 256) : '';
  return (...texts) => texts.some((one) => one?.toLowerCase().includes(text) === true);
}
