/**
 * Runs `work` on up to `limit` items at a time, and yields the results in the order of the items. All work that has begun is settled
 * before an error leaves.
 */
export async function* inParallel<Item, Result>(
  items: AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // The loop awaits this promise later: without this handler Node would report an unhandled rejection.
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
