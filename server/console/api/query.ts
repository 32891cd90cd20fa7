import type { Request } from 'express';
import { ConsoleError } from './console-error.ts';

/**
 * A name that a request is about. Names are query parameters, because they are no paths: `..` and `a/b` are good names of a group, and
 * browsers would resolve them away.
 */
export function queryText(request: Request, name: string): string {
  const value = request.query[name];
  if (typeof value === 'string' && value !== '' && value.length <= 1_024) return value;
  throw new ConsoleError('BadRequest', `The parameter ${name} is missing.`);
}

/** Rows of one answer: the next ones are asked for, or the list narrowed, which costs no memory however many there are. */
const rowsOfPage = 200;

interface Listing<Item, Row> {
  readonly fits: (item: Item) => boolean;
  readonly toRow: (item: Item) => Row | Promise<Row>;
  /** Where it stands: the items come in the order of these, by their bytes. */
  readonly position: (item: Item) => string;
  /** The position of the last row that was answered before. */
  readonly after?: string;
  readonly most?: number;
}

interface Listed<Row> {
  readonly rows: readonly Row[];
  /** Pass as `after` for the rows that follow; absent where there are none. */
  readonly next?: string;
}

export async function listed<Item, Row>(
  items: AsyncIterable<Item>,
  { fits, toRow, position, after, most = rowsOfPage }: Listing<Item, Row>,
): Promise<Listed<Row>> {
  const passed = after === undefined ? undefined : Buffer.from(after);
  const rows: Row[] = [];
  let last = '';
  for await (const item of items) {
    // Who was removed meanwhile leaves no gap: what follows is told by its position.
    if (passed !== undefined && Buffer.compare(Buffer.from(position(item)), passed) <= 0) continue;
    if (!fits(item)) continue;
    if (rows.length === most) return { rows, next: last };
    rows.push(await toRow(item));
    last = position(item);
  }
  return { rows };
}

/** What a request for a list says: the text that is searched for, and where the page before ended. */
export function listQuery({ query }: Pick<Request, 'query'>): {
  readonly fits: (...texts: readonly (string | undefined)[]) => boolean;
  readonly page: Pick<Listing<unknown, unknown>, 'after'>;
} {
  const { after } = query;
  const page = typeof after === 'string' && after !== '' ? { after: after.slice(0, 1_024) } : {};
  return { fits: searching(query['contains']), page };
}

/** Whether one of the texts has the words of a search in it, in any case. */
function searching(wanted: unknown): (...texts: readonly (string | undefined)[]) => boolean {
  const text = typeof wanted === 'string' ? wanted.trim().toLowerCase().slice(0, 256) : '';
  return (...texts) => texts.some((one) => one?.toLowerCase().includes(text) === true);
}
