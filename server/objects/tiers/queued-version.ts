import type { Entry } from '../../store/record-store.ts';
import { decodeRecord } from '../records/record-format.ts';

/** A version in a queue: of moves at once, of restores, or of restored copies. */
export interface QueuedVersion {
  readonly bucket: string;
  readonly key: string;
  /** 32 hexadecimal digits, or `null`. */
  readonly versionId: string;
  /** The name of the tier that must answer. */
  readonly tier: string;
}

export function queuedVersion({ value }: Pick<Entry, 'value'>): QueuedVersion {
  return decodeRecord(value, 'a version in a queue of tiers') as QueuedVersion;
}
