import type { StructuredLog } from '../../../platform/output/structured-log.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { InventoryConfiguration } from '../../../protocol/s3/bucket-inventory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { readAllInventories } from '../../objects/buckets/bucket-inventory.ts';
import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce, isReadOnly } from '../../store/commits.ts';
import { decodeKey, key, within } from '../../store/keys.ts';
import type { Key, RecordStore } from '../../store/record-store.ts';
import type { Pace } from '../pace.ts';
import { UnreadableBuckets } from '../unreadable-buckets.ts';
import { type InventoryObjects, type ReportProgress, writeReport } from './write-report.ts';

/** The last report of a configuration. Times are milliseconds since 1970. */
interface InventoryState extends ReportProgress {
  /** The digest of the configuration. */
  readonly configuration: string;
  /** The day or the week of the report, counted since 1970. */
  readonly period: number;
  readonly began: number;
  /** Absent while it is unfinished. */
  readonly ended?: number;
  /** The time of the last failure of an unfinished report. */
  readonly failed?: number;
}

interface InventoryRoundsOptions {
  /** Milliseconds of a day. */
  readonly dayMs: number;
  /** Waits until more records may be read. */
  readonly reads: Pace;
  readonly log: Pick<StructuredLog, 'info' | 'warn'>;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/** The lease holder and its records, whose commits are fenced. */
interface InventoryRound {
  readonly records: RecordStore;
  readonly objects: InventoryObjects;
  readonly signal: AbortSignal;
}

/** A row takes 9 µs, as many as two records that are only read: at the default speed a report takes a tenth of a core. */
const ROW_COST = 2;
/** The part of a day after which a failed report is tried again. */
const RETRY_DAYS = 1 / 24;

const stateKey = (bucket: string, id: string): Key => key('inventory-state', bucket, id);

/**
 * Returns a function that writes every report that is due: the first one at once, and then one a day, or one a week on Sunday (UTC). A
 * changed configuration gives another report. A report that was interrupted goes on after its last file. It throws at the end where a
 * damaged record stopped a report.
 */
export function inventoryRounds(options: InventoryRoundsOptions): (round: InventoryRound) => Promise<void> {
  return async (round) => {
    const { records, signal } = round;
    const inventories = await readAllInventories(records);
    const states = await readStates(records);
    if ((inventories.size === 0 && states.size === 0) || (await isReadOnly(records))) return;
    const unreadable = new UnreadableBuckets();
    for (const [bucket, configurations] of inventories) {
      for (const configuration of configurations) {
        signal.throwIfAborted();
        const name = stateName(bucket, configuration.id);
        const state = states.get(name);
        states.delete(name);
        if (!configuration.enabled) continue;
        await unreadable.goOnAfter(() => reportIfDue(options, round, { bucket, configuration, state }));
      }
    }
    const gone = [...states.keys()].map((name) => stateKey(...splitName(name)));
    if (gone.length > 0) await commitOnce(records, { delete: gone }, options.random ?? randomBytes);
    unreadable.throwFirst();
  };
}

async function reportIfDue(
  options: InventoryRoundsOptions,
  { records, objects, signal }: InventoryRound,
  given: {
    readonly bucket: string;
    readonly configuration: InventoryConfiguration;
    readonly state: InventoryState | undefined;
  },
): Promise<void> {
  const { dayMs, reads, log, clock = Date.now, random = randomBytes } = options;
  const { bucket, configuration, state } = given;
  const { id } = configuration;
  const due = { configuration: digestOf(configuration), period: periodOf(configuration, clock() / dayMs) };
  const same = state?.configuration === due.configuration && state.period === due.period ? state : undefined;
  if (same?.ended !== undefined) return;
  if (same?.failed !== undefined && clock() < same.failed + RETRY_DAYS * dayMs) return;
  const begin: InventoryState = same ?? { ...due, began: clock(), files: [], rows: 0 };
  let progress: ReportProgress = begin;
  const save = (more: Pick<InventoryState, 'ended' | 'failed'>) => {
    const { files, rows, after } = progress;
    const { began } = begin;
    // A finished report needs no list of its files.
    const found = more.ended === undefined ? { files, rows, ...(after && { after }) } : { files: [], rows };
    const value = encodeRecord({ ...due, began, ...found, ...more } satisfies InventoryState);
    return commitOnce(records, { put: [{ key: stateKey(bucket, id), value }] }, random);
  };
  try {
    progress = await writeReport({
      objects,
      bucket,
      configuration,
      began: begin.began,
      progress: { files: begin.files, rows: begin.rows, ...(begin.after && { after: begin.after }) },
      random,
      passed: async (versions) => {
        signal.throwIfAborted();
        await reads(ROW_COST * versions, signal);
      },
      checkpoint: async (reached) => {
        progress = reached;
        await save({});
      },
    });
  } catch (error) {
    if (!(error instanceof S3Error) || error.code === 'ServiceUnavailable' || signal.aborted) throw error;
    await save({ failed: clock() });
    log.warn(
      { err: error, bucket, inventory: id, destination: configuration.destination.bucket },
      'an inventory could not be written; it is tried again in an hour',
    );
    return;
  }
  await save({ ended: clock() });
  log.info({ bucket, inventory: id, rows: progress.rows, files: progress.files.length }, 'wrote an inventory');
}

/** The day, or the week that begins on Sunday; 1970-01-01 was a Thursday. */
function periodOf({ frequency }: InventoryConfiguration, days: number): number {
  const day = Math.floor(days);
  return frequency === 'Daily' ? day : Math.floor((day + 4) / 7);
}

function digestOf(configuration: InventoryConfiguration): string {
  return createHash('sha256').update(JSON.stringify(configuration)).digest('base64');
}

/** Names of buckets have no slash. */
function stateName(bucket: string, id: string): string {
  return `${bucket}/${id}`;
}

function splitName(name: string): [bucket: string, id: string] {
  const slash = name.indexOf('/');
  return [name.slice(0, slash), name.slice(slash + 1)];
}

async function readStates(records: Pick<RecordStore, 'scan'>): Promise<Map<string, InventoryState>> {
  const states = new Map<string, InventoryState>();
  for await (const item of records.scan(within('inventory-state'))) {
    if (item.kind !== 'entry') continue;
    const [, bucket, id] = decodeKey(item.key).map(String);
    if (bucket === undefined || id === undefined) continue;
    const state = decodeRecord(item.value, `the inventory ${id} of ${bucket}`) as InventoryState;
    states.set(stateName(bucket, id), state);
  }
  return states;
}
