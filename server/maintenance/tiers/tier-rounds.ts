import type { StructuredLog } from '../../../platform/output/structured-log.ts';
import { mapLimit } from '../../../platform/async/concurrency.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { isDamage } from '../../objects/records/damage.ts';
import { queuedVersion } from '../../objects/tiers/queued-version.ts';
import { commitOnce, isReadOnly } from '../../store/commits.ts';
import { key, within } from '../../store/keys.ts';
import { type Entry, type RecordStore, type ScanRange, scanPages } from '../../store/record-store.ts';
import { isTierUnavailable } from './tier-unavailable.ts';

interface TierRoundsOptions {
  readonly log: Pick<StructuredLog, 'warn'>;
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
/** Milliseconds that a queue rests after a tier did not answer, or was full. */
const REST_MS = 5_000;

interface Queue {
  readonly table: string;
  readonly what: string;
  readonly work: (objects: TierRound['objects'], entry: Entry) => Promise<boolean>;
  restsUntil: number;
}

/**
 * Returns a function that works off the queues of tiers: versions that a rule moves at once, restores that clients asked for, and restored
 * copies whose end has come. A version stays in its queue while its tier is away or full, and does not hold up those of other tiers. One that
 * cannot be read leaves it, with a warning.
 */
export function tierRounds({ log, clock = Date.now, random }: TierRoundsOptions): (round: TierRound) => Promise<void> {
  const queues = [
    newQueue('transition', 'moved to its tier', (objects, entry) => objects.transitionQueued(entry)),
    newQueue('restore', 'restored from its tier', (objects, entry) => objects.restoreQueued(entry)),
    newQueue('restored', 'left without its restored copy', (objects, entry) => objects.endRestoredCopy(entry)),
  ];

  async function workOff(current: Queue, { records, objects, signal }: TierRound): Promise<void> {
    if (clock() < current.restsUntil) return;
    const awayTiers = new Set<string>();
    let failures = 0;
    const workOn = async (entry: Entry) => {
      signal.throwIfAborted();
      let tier = '';
      try {
        ({ tier } = queuedVersion(entry));
        if (!awayTiers.has(tier)) await current.work(objects, entry);
      } catch (error) {
        signal.throwIfAborted();
        if (isDamage(error)) {
          await commitOnce(records, { delete: [entry.key] }, random);
          log.warn({ err: error }, `a version cannot be ${current.what}`);
          return;
        }
        if (!(error instanceof S3Error)) throw error;
        if (isTierUnavailable(error)) awayTiers.add(tier);
        failures += 1;
        if (failures > 1) return;
        // An `S3Error` has the words for clients. Its cause names the tier.
        log.warn({ err: error.cause ?? error, tier, retryInMs: REST_MS }, `a version could not be ${current.what}`);
      }
    };
    for await (const page of scanPages(records, until(current.table, clock()))) {
      const entries = page.flatMap((item) => (item.kind === 'entry' ? [item] : []));
      await mapLimit(entries, CONCURRENCY, workOn);
    }
    if (failures > 0) current.restsUntil = clock() + REST_MS;
  }

  return async (round) => {
    if (await isReadOnly(round.records)) return;
    // A long queue does not hold up another one.
    await Promise.all(queues.map((current) => workOff(current, round)));
  };
}

function newQueue(table: string, what: string, work: Queue['work']): Queue {
  return { table, what, work, restsUntil: 0 };
}

/** The entries of a table whose keys begin with this time or an earlier one. Later ones wait for the next round. */
function until(table: string, time: number): ScanRange {
  const end = Buffer.alloc(6);
  end.writeUIntBE(time + 1, 0, 6);
  return { start: within(table).start, end: key(table, end) };
}
