import type { Entry } from '../../store/record-store.ts';
import type { TierNumber } from '../../store/tiered-id.ts';
import { decodeRecord } from '../records/record-format.ts';

/** A tier: a place on another store to which bodies move. */
export interface Tier {
  /** The storage class in rules and answers. */
  readonly name: string;
  readonly number: TierNumber;
}

/** The tiers of the deployment, as the object layer needs them. The blob store of the context reads and writes their bodies by the blob id. */
export interface Tiers {
  /** Undefined where there is no tier of this name. */
  find(name: string): Promise<Tier | undefined>;
}

export const noTiers: Tiers = { find: () => Promise.resolve(undefined) };

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
