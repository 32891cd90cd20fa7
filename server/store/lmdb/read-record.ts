import type { Database } from 'lmdb';
import type { Entry, Key } from '../record-store.ts';
import { asBuffer, decodeStored, revisionOf } from './stored-value.ts';

/** lmdb-js has them and its types do not: the size of what was read last. */
type WithSize = Database<Buffer, Buffer> & { readonly lastSize: number };

export function readRecord(records: Database<Buffer, Buffer>, key: Key): Entry | undefined {
  // Into memory that the next read uses again: copied once from there, where `getBinary` would make a buffer of its own.
  const stored = records.getBinaryFast(key);
  if (stored === undefined) return undefined;
  const { value, revision } = decodeStored(stored, (records as WithSize).lastSize);
  return { key, value, revision };
}

export function readRevision(records: Database<Buffer, Buffer>, key: Key): number | undefined {
  const stored: Uint8Array | undefined = records.getBinaryFast(key);
  if (stored === undefined) return undefined;
  return revisionOf(asBuffer(stored, (records as WithSize).lastSize));
}
