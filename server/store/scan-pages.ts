import type { RecordStore, ScanItem, ScanRange } from './record-store.ts';

/** Pages of a scan, of any engine: one that has none of its own gives pages of one item. */
export function scanPages(records: RecordStore, range: ScanRange): AsyncIterable<readonly ScanItem[]> {
  return records.scanPages?.(range) ?? onePerPage(records.scan(range));
}

async function* onePerPage(items: AsyncIterable<ScanItem>): AsyncIterable<readonly ScanItem[]> {
  for await (const item of items) yield [item];
}
