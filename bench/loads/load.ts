import type { Endpoint } from '../generator/request-signer.ts';
import type { RingRequest } from '../generator/request-ring.ts';

export const bucket = 'bench';

/** What one round of a load needs to know. */
export interface Round {
  readonly endpoint: Endpoint;
  readonly connections: number;
  /** Different in every round of every run: what is written under it is new. */
  readonly id: string;
  /** How long it lasts at most: so many objects are prepared. */
  readonly seconds: number;
  /** Fewer objects, for a quick look. */
  readonly quick: boolean;
  /** Whether SHA-256 of bodies is signed too. */
  readonly signPayload: boolean;
}

/** A round with its data in place. */
export interface PreparedRound {
  readonly requests: readonly RingRequest[];
  /** Whether requests may be sent more than once. */
  readonly repeat: boolean;
  /** Whether the round lasts as long as its requests do, however long that is. */
  readonly whole?: boolean;
  /** What ends the round within the measured time, after all requests were answered. */
  conclude?(): Promise<void>;
  /** How many operations the whole round is, where requests are only parts of one. */
  readonly operations?: number;
  /** Outside the measured time: throws where contents are not what they must be. `done`: how many requests were sent. */
  verify(done: number): Promise<void>;
  /** Removes what the round wrote. */
  clear(done: number): Promise<void>;
}

export interface Load {
  readonly name: string;
  /** What one operation is, where it is not a request. */
  readonly help: string;
  /** Puts what the load reads into place, where it is not there yet. Throws where it is there and wrong. */
  prepare(round: Round): Promise<PreparedRound>;
}
