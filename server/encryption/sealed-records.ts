import { key, type KeyPart, within } from '../store/keys.ts';
import type { Key, RecordStore } from '../store/record-store.ts';
import type { KeySource } from './key-source.ts';
import type { SealedRecordStore } from './sealed-record-store.ts';

/** The key of a sealed record: every key that a `SealedRecordStore` takes is made here, e.g. `sealedKey('session', id)`. */
export function sealedKey(...parts: readonly KeyPart[]): Key {
  return key('s', ...parts);
}

/** The range of every sealed record whose first parts are these. */
export function sealedWithin(...parts: readonly KeyPart[]): { readonly start: Buffer; readonly end: Buffer } {
  return within('s', ...parts);
}

export interface SealedRecordsOptions {
  readonly records: RecordStore;
  /** `noKeySource` keeps values plain, and refuses to start where they are sealed already. */
  readonly keys: KeySource;
  readonly random?: (size: number) => Buffer;
}

export function sealedRecords(_options: SealedRecordsOptions): SealedRecordStore {
  throw new Error('not yet');
}
