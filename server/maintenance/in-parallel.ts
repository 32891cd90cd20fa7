/** Works on several items at a time and gives the results in the order of the items. What is begun is ended before an error leaves. */
export async function* inParallel<Item, Result>(
  items: AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // Looked at when its turn comes; until then nobody may take it for unhandled.
      result.catch(() => undefined);
      pending.push(result);
      const first = pending.length < limit ? undefined : pending.shift();
      if (first !== undefined) yield await first;
    }
    for (let first = pending.shift(); first !== undefined; first = pending.shift()) yield await first;
  } finally {
    await Promise.allSettled(pending);
  }
}
