import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';
import { commitOnce } from '../store/commit-once.ts';
import { key } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';

/** Where the scrub is, and what the last one found. Times are milliseconds since 1970. */
export interface ScrubState {
  readonly started: number;
  /** Absent while a pass is under way. */
  readonly finished?: number;
  /** The last object that was looked at. */
  readonly after?: { readonly bucket: string; readonly key: string };
  readonly objects: number;
  readonly bytes: number;
  /** Findings of this pass, of objects and of parts of uploads. */
  readonly damaged: number;
  readonly missing: number;
  /** Objects that were found whole again. */
  readonly released: number;
}

export const scrubKey = key('scrub', 'state');

export async function readScrubState(records: RecordStore): Promise<ScrubState | undefined> {
  const entry = await records.get(scrubKey);
  return entry && (decodeRecord(entry.value, 'the scrub') as ScrubState);
}

export async function writeScrubState(
  records: RecordStore,
  state: ScrubState,
  random: (size: number) => Buffer,
): Promise<void> {
  await commitOnce(records, { put: [{ key: scrubKey, value: encodeRecord(state) }] }, random);
}
