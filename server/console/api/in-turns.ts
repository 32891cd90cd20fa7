/** Maps with so many calls under way at once, in the order of the items; the first failure is the whole's. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  breadth: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += breadth) {
    results.push(...(await Promise.all(items.slice(at, at + breadth).map(map))));
  }
  return results;
}
