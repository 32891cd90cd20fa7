import { commitOnce } from '../../store/commits.ts';
import { within } from '../../store/keys.ts';
import { type Entry, type RecordStore, scanPages } from '../../store/record-store.ts';
import { isNamed, outboxKeys, queuedAt } from '../events/outbox.ts';
import { isUnreadable } from '../records/damage.ts';
import { decodeRecord, encodeRecord } from '../records/record-format.ts';

/**
 * Until when a queue got removals without a name, which releases before `namedPart` made. Milliseconds since 1970; 0 where the queue has none.
 * All of a queue that was not looked through may be such removals.
 */
interface StoredMark {
  readonly until: number;
}

/** The last time that a key of a queue can have. */
const MAX_TIME = 0xfe_ff_ff_ff_ff_ff;

/** Returns until when a queue may have removals without a name. Undefined where it has none. */
export async function removalsWithoutNameUntil(
  records: Pick<RecordStore, 'get'>,
  queue: string,
): Promise<number | undefined> {
  const until = (await readMark(records, queue)) ?? MAX_TIME;
  return until === 0 ? undefined : until;
}

/** Reports if a queued change may be a removal. Most other changes are told from one without being decoded. */
export function isRemoval({ value }: Pick<Entry, 'value'>): boolean {
  return value.includes(removal);
}

/** What the record of a removal has in its JSON. */
const removal = Buffer.from('"removal"');

interface MarkOptions {
  readonly records: RecordStore;
  readonly queue: string;
  /** Waits until more records may be read. */
  readonly reads: (count: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly random: (size: number) => Buffer;
}

/**
 * Looks a queue through for removals without a name, and notes until when it got them, so that an arriving version need not read all changes of its
 * key. No server may queue such removals any more. A signal ends it.
 */
export async function markRemovalsWithoutName({ records, queue, reads, signal, random }: MarkOptions): Promise<void> {
  let until = 0;
  for await (const page of scanPages(records, within('outbox', queue))) {
    for (const item of page) {
      if (item.kind === 'entry' && !isNamed(item.key) && isRemoval(item)) until = Math.max(until, queuedAt(item.key));
    }
    if (signal.aborted) return;
    await reads(page.length, signal).catch(() => undefined);
  }
  if (signal.aborted || (await readMark(records, queue)) === until) return;
  const mark: StoredMark = { until };
  await commitOnce(
    records,
    { put: [{ key: outboxKeys.removalsWithoutName(queue), value: encodeRecord(mark) }] },
    random,
  );
}

async function readMark(records: Pick<RecordStore, 'get'>, queue: string): Promise<number | undefined> {
  const entry = await records.get(outboxKeys.removalsWithoutName(queue));
  if (entry === undefined) return undefined;
  try {
    return (decodeRecord(entry.value, `the removals without a name of ${queue}`) as StoredMark).until;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return undefined;
  }
}
