import type { TierNumber } from '../../store/tiered-id.ts';

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
