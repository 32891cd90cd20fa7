import type { RecordStore } from '../record-store.ts';

export interface LmdbOptions {
  /** An existing folder; the environment's files are made in it. */
  readonly folder: string;
  readonly readOnly?: boolean;
}

/** Records on this machine's disk. Every thread of the process opens its own. */
export function openLmdbRecordStore(_options: LmdbOptions): RecordStore {
  throw new Error('not yet');
}
