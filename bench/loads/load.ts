import type { Endpoint } from '../generator/request-signer.ts';
import type { RingRequest } from '../generator/request-ring.ts';

export const bucket = 'bench';

/** The parameters of one round of a load. */
export interface Round {
  readonly endpoint: Endpoint;
  readonly connections: number;
  /** The prefix of new objects. It differs for each round of each run. */
  readonly id: string;
  /** The maximum duration in seconds, which limits the number of prepared objects. */
  readonly seconds: number;
  /** Use fewer objects, for a quick test. */
  readonly quick: boolean;
  /** Sign the SHA-256 of bodies too. */
  readonly signPayload: boolean;
}

/** A round whose data is in place. */
export interface PreparedRound {
  readonly requests: readonly RingRequest[];
  /** Requests may be sent repeatedly. */
  readonly repeat: boolean;
  /** The round ends when all requests are answered, regardless of time. */
  readonly whole?: boolean;
  /** Ends the round within the measured time, after the last answer. */
  conclude?(): Promise<void>;
  /** The number of operations of the round, if requests are only parts of one. */
  readonly operations?: number;
  /**
   * Verifies the contents, outside the measured time. `done` is the number of requests that were sent. It throws when contents are wrong.
   */
  verify(done: number): Promise<void>;
  /** Removes the objects of the round. */
  clear(done: number): Promise<void>;
}

export interface Load {
  readonly name: string;
  /** The name of an operation that is not one request. */
  readonly help: string;
  /** Writes the objects that the load reads, unless they exist. It throws when they exist and are wrong. */
  prepare(round: Round): Promise<PreparedRound>;
}
