import { mapLimit } from '../../../platform/concurrency.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../../objects/object-layer.ts';
import { isUnreadable, StoredDataError } from '../../objects/stored-data-error.ts';
import { commitOnce, isReadOnly } from '../../store/commits.ts';
import { key, within } from '../../store/keys.ts';
import { type Entry, type RecordStore, scanPages } from '../../store/record-store.ts';
import { isStoreError } from '../../store/store-error.ts';

interface TierRoundsOptions {
  readonly log: { warn(fields: object, message: string): void };
  readonly clock?: () => number;
  readonly random: (size: number) => Buffer;
}

/** The lease holder and its records. */
interface TierRound {
  readonly records: RecordStore;
  readonly objects: Pick<ObjectLayer, 'transitionQueued' | 'restoreQueued' | 'endRestoredCopy'>;
  readonly signal: AbortSignal;
}

/** Bodies that are moved at a time: each may have parts of 8 MiB in memory. */
const CONCURRENCY = 4;
/** Milliseconds that a queue rests after a tier did not answer. */
const REST_MS = 5_000;

interface Queue {
  readonly table: string;
  readonly what: string;
  readonly work: (objects: TierRound['objects'], entry: Entry) => Promise<boolean>;
  restsUntil: number;
}

/**
 * Returns a function that works off the queues of tiers: versions that a rule moves at once, restores that clients asked for, and restored
 * copies whose end has come. A version stays in its queue while its tier is away. One that cannot be read leaves it, with a warning.
 */
export function tierRounds({ log, clock = Date.now, random }: TierRoundsOptions): (round: TierRound) => Promise<void> {
  const queues: readonly Queue[] = [
    {
      table: 'transition',
      what: 'moved to its tier',
      work: (objects, entry) => objects.transitionQueued(entry),
      restsUntil: 0,
    },
    {
      table: 'restore',
      what: 'restored from its tier',
      work: (objects, entry) => objects.restoreQueued(entry),
      restsUntil: 0,
    },
  ];
  return async ({ records, objects, signal }) => {
    if (await isReadOnly(records)) return;
    await endCopies({ records, objects, signal }, clock());
    for (const queue of queues) {
      if (clock() < queue.restsUntil) continue;
      let stopped = false;
      const workOn = async (entry: Entry) => {
        signal.throwIfAborted();
        if (stopped) return;
        try {
          await queue.work(objects, entry);
        } catch (error) {
          signal.throwIfAborted();
          if (isLasting(error)) {
            await commitOnce(records, { delete: [entry.key] }, random);
            log.warn({ err: error }, `a version cannot be ${queue.what}`);
            return;
          }
          if (!(error instanceof S3Error)) throw error;
          // The tier or the store is away: all others would fail too.
          stopped = true;
          queue.restsUntil = clock() + REST_MS;
          log.warn({ err: error, retryInMs: REST_MS }, `a version could not be ${queue.what}`);
        }
      };
      for await (const page of scanPages(records, within(queue.table))) {
        await mapLimit(entriesOf(page), CONCURRENCY, workOn);
        if (stopped) break;
      }
    }
  };
}

type Page = readonly (({ readonly kind: 'entry' } & Entry) | { readonly kind: string })[];

function entriesOf(page: Page): readonly Entry[] {
  return page.flatMap((item) => (item.kind === 'entry' ? [item as Entry] : []));
}

/** Bytes that are damaged or missing do not come back by waiting. */
function isLasting(error: unknown): boolean {
  if (error instanceof StoredDataError || isUnreadable(error)) return true;
  return isStoreError(error, 'blob-missing', 'blob-truncated', 'blob-altered');
}

/** The keys begin with the end of each copy. */
async function endCopies({ records, objects, signal }: TierRound, now: number): Promise<void> {
  const { start } = within('restored');
  const until = Buffer.alloc(6);
  until.writeUIntBE(now, 0, 6);
  for await (const page of scanPages(records, { start, end: key('restored', until) })) {
    for (const entry of entriesOf(page)) {
      signal.throwIfAborted();
      await objects.endRestoredCopy(entry);
    }
  }
}
