/** Rows of one answer: who has more narrows the list, which costs no memory however many there are. */
const mostRows = 1_000;

/** The first rows whose name has the text in it, and whether there are more of them. */
export async function listed<Item, Row>(
  items: AsyncIterable<Item>,
  fits: (item: Item) => boolean,
  toRow: (item: Item) => Row | Promise<Row>,
): Promise<{ readonly rows: Row[]; readonly more: boolean }> {
  const rows: Row[] = [];
  for await (const item of items) {
    if (!fits(item)) continue;
    if (rows.length === mostRows) return { rows, more: true };
    rows.push(await toRow(item));
  }
  return { rows, more: false };
}

/** Whether one of the texts has the words of a search in it, in any case. */
export function searching(wanted: unknown): (...texts: readonly (string | undefined)[]) => boolean {
  const text = typeof wanted === 'string' ? wanted.trim().toLowerCase().slice(0, 256) : '';
  return (...texts) => texts.some((one) => one?.toLowerCase().includes(text) === true);
}
