import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { decodeCount, encodeCount, type RecordCount, RecordTally, sumOf } from '../record-counts.ts';
import { endOf } from '../keys.ts';
import { type Environment, openEnvironment, RECORD_FILE } from './environment.ts';

/** The key of the sequence of revisions. With one sequence for all keys, a revision grows across a deletion without a tombstone. */
const SEQUENCE = Buffer.from('sequence');
/**
 * The byte after the sequence: the counts belong to it. Servers without counts write the sequence alone, and what they change is in no
 * count.
 */
const COUNTED = 1;
/** The beginning of the keys of counts. */
const COUNTS = Buffer.from('counts\0');

type Root = RootDatabase<Buffer, Buffer>;

interface Sequence {
  readonly revision: number;
  /** True if the counts are those of all records. */
  readonly counted: boolean;
}

export function readSequence(root: Root): Sequence {
  const value = root.getBinary(SEQUENCE);
  if (value === undefined) return { revision: 0, counted: true };
  return { revision: Number(value.readBigUInt64BE()), counted: value[8] === COUNTED };
}

/** For use within a transaction. */
export function writeSequence(root: Root, { revision, counted }: Sequence): void {
  const value = Buffer.alloc(counted ? 9 : 8);
  value.writeBigUInt64BE(BigInt(revision));
  if (counted) value[8] = COUNTED;
  void root.put(SEQUENCE, value);
}

/** Adds the changes of a transaction to the counts. For use within it. */
export function addCounts(root: Root, changes: RecordTally): void {
  for (const { group, ...change } of changes.counts()) {
    const key = Buffer.concat([COUNTS, group]);
    const stored = root.getBinary(key);
    if (stored === undefined) {
      void root.put(key, encodeCount(change));
      continue;
    }
    const total = sumOf(decodeCount(stored), change);
    void (total.records === 0 ? root.remove(key) : root.put(key, encodeCount(total)));
  }
}

/** Returns the counts of all groups, or undefined where some records are in no count. */
export function readCounts(root: Root): readonly RecordCount[] | undefined {
  if (!readSequence(root).counted) return undefined;
  const counts: RecordCount[] = [];
  for (const { key, value } of root.getRange({ start: COUNTS, end: endOf(COUNTS) })) {
    counts.push({ group: Buffer.from(key.subarray(COUNTS.length)), ...decodeCount(value) });
  }
  return counts;
}

/**
 * Counts the records of a store that a server without counts wrote, in one transaction. No other process may use the folder. Does nothing
 * where the counts are there, and where the file is larger than `maxBytes`, since it reads all of it.
 */
export function countRecords(folder: string, { maxBytes = Infinity }: { readonly maxBytes?: number } = {}): void {
  if (statSync(join(folder, RECORD_FILE)).size > maxBytes) return;
  const environment = openEnvironment(folder);
  try {
    if (!readSequence(environment.root).counted) environment.root.transactionSync(() => count(environment));
  } finally {
    void environment.root.close();
  }
}

function count({ root, tables }: Environment): void {
  const old = [...root.getKeys({ start: COUNTS, end: endOf(COUNTS) })].map((key) => Buffer.from(key));
  for (const key of old) void root.remove(key);
  const tally = new RecordTally();
  for (const { key, revision, length } of tables.lengths()) tally.add(key, revision, length);
  addCounts(root, tally);
  writeSequence(root, { ...readSequence(root), counted: true });
}
