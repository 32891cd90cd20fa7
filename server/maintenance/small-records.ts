import { decodeRecord, UnreadableRecord } from '../objects/records/record-format.ts';
import { recordKeys } from '../objects/records/record-keys.ts';
import { isBlobId } from '../store/blob-id.ts';
import { decodeKey, within } from '../store/keys.ts';
import type { Check } from './check.ts';
import type { Finding } from './finding.ts';
import { entries } from './object-records.ts';
import { shownKey } from './shown-key.ts';

/** Buckets, what is queued for removal, what the sweeper gave up, uploads that ended: that they can be read and contradict nothing. */
export async function* checkSmallRecords({ records, signal }: Check): AsyncGenerator<Finding> {
  for (const kind of ['b', 'q', 'x', 't']) {
    for await (const { key, value } of entries(records, within(kind))) {
      signal?.throwIfAborted();
      const record = shownKey(key);
      try {
        const decoded = decodeRecord(value, record) as Record<string, unknown>;
        if (!isOfKind(kind, decoded)) throw new UnreadableRecord(`the record ${record} is not complete`);
      } catch (error) {
        if (!(error instanceof UnreadableRecord)) throw error;
        // Also what was removed meanwhile was not readable: but nobody misses it.
        if ((await records.get(key)) !== undefined) yield { kind: 'unreadable-record', record, message: error.message };
        continue;
      }
      const blob = String(decodeKey(key)[1]);
      if (kind !== 't' || !isBlobId(blob)) continue;
      const [tombstone, owner] = await records.getAll([key, recordKeys.owner(blob)]);
      if (tombstone !== undefined && owner !== undefined) {
        yield { kind: 'stray-record', record, message: `blob ${blob} was given up by the sweeper, and has an owner` };
      }
    }
  }
}

function isOfKind(kind: string, record: Record<string, unknown>): boolean {
  if (kind === 'b') return typeof record['created'] === 'number';
  if (kind === 'x') return typeof record['queued'] === 'number';
  return kind !== 't' || typeof record['given'] === 'number';
}
