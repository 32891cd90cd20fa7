import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { blamesBlobs } from './blob-store.ts';
import { commitOnce } from './commits.ts';
import { key } from './keys.ts';
import { putUnpromoted, readUnpromoted, type Unpromoted, unpromotedKey } from './promotion.ts';
import type { Entry, Expectation, RecordStore } from './record-store.ts';

/**
 * A checkpoint is written to the records first, and then beside the bodies. Records of yesterday beside the bodies of today have an earlier
 * one, and the other way round, however consistent each of them is.
 */
export const checkpointKey = key('system', 'checkpoint');

const schema = z.object({ number: z.int().min(1), id: z.uuid() });
const recordSchema = schema.extend({ previous: z.uuid().optional() });

/** A checkpoint as it is beside the bodies. */
export type Checkpoint = z.infer<typeof schema>;
type CheckpointRecord = z.infer<typeof recordSchema>;

export function checkpointText({ number, id }: Checkpoint): string {
  return `${JSON.stringify({ number, id })}\n`;
}

/** Returns undefined for text that is not a checkpoint. */
export function readCheckpointText(text: string): Checkpoint | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Returns the checkpoint of records: that which is written beside the bodies of their copy. */
export async function recordedCheckpoint(records: Pick<RecordStore, 'get'>): Promise<CheckpointRecord | undefined> {
  const entry = await records.get(checkpointKey);
  return entry && decoded(entry);
}

function decoded({ value }: Entry): CheckpointRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(value.toString('utf8')));
  } catch {
    return undefined;
  }
}

/** The place beside the bodies. */
export interface CheckpointPlace {
  /** Returns undefined if there is no checkpoint, or something else in its place. Throws `StoreError` if the place cannot be read. */
  readCheckpoint(): Promise<Checkpoint | undefined>;
  /** Replaces the checkpoint, durably. */
  writeCheckpoint(checkpoint: Checkpoint): Promise<void>;
}

interface Stores {
  readonly records: RecordStore;
  readonly marker: CheckpointPlace;
}

/** Compares the records with the bodies beside them. Returns undefined where they fit, or were never compared. */
export async function misfitOf({ records, marker }: Stores): Promise<Unpromoted['reason'] | undefined> {
  // The bodies are read first: a server that writes a checkpoint meanwhile has it in the records before.
  const beside = await marker.readCheckpoint().catch(blamesBlobs);
  const own = await recordedCheckpoint(records);
  if (own === undefined) return beside === undefined ? undefined : 'older-records';
  // The first one may have been interrupted.
  if (beside === undefined) return own.number === 1 ? undefined : 'older-bodies';
  if (own.id === beside.id || own.previous === beside.id) return undefined;
  if (own.number === beside.number) return 'other-bodies';
  return own.number < beside.number ? 'older-records' : 'older-bodies';
}

/** Marks the store as unpromoted where records and bodies do not fit. Returns why a store that is marked must be promoted. */
export async function markMisfit(
  stores: Stores,
  clock: () => number,
  random: (size: number) => Buffer,
): Promise<Unpromoted | undefined> {
  const known = await readUnpromoted(stores.records);
  if (known !== undefined) return known;
  const reason = await misfitOf(stores);
  return reason === undefined ? undefined : markUnpromoted(stores.records, reason, clock, random);
}

/**
 * Marks the store as unpromoted where its records were put back to an earlier moment beneath a running server: a restore, or a failover to a copy of
 * yesterday. Bodies that seem to be earlier do not count, because a server that slept while it wrote a checkpoint leaves an earlier one beside them.
 */
export async function markEarlierRecords(
  stores: Stores,
  clock: () => number,
  random: (size: number) => Buffer,
): Promise<Unpromoted | undefined> {
  const known = await readUnpromoted(stores.records);
  if (known !== undefined) return known;
  const reason = await misfitOf(stores);
  return reason === undefined || reason === 'older-bodies'
    ? undefined
    : markUnpromoted(stores.records, reason, clock, random);
}

/** Marks the store as unpromoted, unless it is that already. Returns why it must be promoted. */
export async function markUnpromoted(
  records: RecordStore,
  reason: Unpromoted['reason'],
  clock: () => number,
  random: (size: number) => Buffer,
): Promise<Unpromoted | undefined> {
  const expect = [{ kind: 'absent' as const, key: unpromotedKey }];
  const put = [putUnpromoted({ since: new Date(clock()).toISOString(), reason })];
  await commitOnce(records, { expect, put }, random);
  return readUnpromoted(records);
}

/** Writes the next checkpoint, unless the store is unpromoted. Only the lease holder calls this. */
export async function writeCheckpoint({ records, marker }: Stores, random: (size: number) => Buffer): Promise<void> {
  if ((await readUnpromoted(records)) !== undefined) return;
  const entry = await records.get(checkpointKey);
  const last = entry && decoded(entry);
  await advance({ records, marker }, { entry, number: (last?.number ?? 0) + 1, previous: last?.id }, random);
}

/** Lets an unpromoted store go on for its deployment. Its records and the bodies beside them belong together from now on. */
export async function promote({ records, marker }: Stores, random: (size: number) => Buffer): Promise<void> {
  const beside = await marker.readCheckpoint().catch(blamesBlobs);
  const entry = await records.get(checkpointKey);
  const last = entry && decoded(entry);
  const number = Math.max(last?.number ?? 0, beside?.number ?? 0) + 1;
  if ((await readUnpromoted(records))?.reason === 'lost-records') await records.recount?.();
  await advance({ records, marker }, { entry, number, previous: beside?.id ?? last?.id, promotes: true }, random);
}

async function advance(
  { records, marker }: Stores,
  {
    entry,
    number,
    previous,
    promotes = false,
  }: { readonly entry: Entry | undefined; readonly promotes?: boolean } & Omit<CheckpointRecord, 'id'>,
  random: (size: number) => Buffer,
): Promise<void> {
  const next = { number, id: randomUUID(), ...(previous !== undefined && { previous }) };
  const expect: Expectation[] = [
    entry === undefined
      ? { kind: 'absent', key: checkpointKey }
      : { kind: 'revision', key: checkpointKey, revision: entry.revision },
  ];
  const put = [{ key: checkpointKey, value: Buffer.from(JSON.stringify(next)) }];
  const { kind } = await commitOnce(records, { expect, put, ...(promotes && { delete: [unpromotedKey] }) }, random);
  if (kind === 'committed') await marker.writeCheckpoint(next).catch(blamesBlobs);
}
