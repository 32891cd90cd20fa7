import type { Clock } from './remote.ts';

export interface Token {
  readonly value: string;
  /** Milliseconds since 1970; Infinity where it never ends. */
  readonly expiresAt: number;
}

const longestMarginMs = 300_000;

interface Held<T extends Token> {
  readonly token: T;
  readonly since: number;
}

/** The token of a login, renewed before it ends. Any number of callers share one login. */
export class TokenSource<T extends Token = Token> {
  readonly #acquire: (previous: T | undefined) => Promise<T>;
  readonly #clock: Clock;
  #held: Held<T> | undefined;
  #acquiring: Promise<T> | undefined;

  /** `acquire` gets the token to be replaced, where there is one that is still taken. */
  constructor(acquire: (previous: T | undefined) => Promise<T>, clock: Clock) {
    this.#acquire = acquire;
    this.#clock = clock;
  }

  async current(): Promise<string> {
    const held = this.#held;
    const now = this.#clock.now();
    if (held !== undefined && now < held.token.expiresAt - marginOf(held)) return held.token.value;
    const valid = held !== undefined && now < held.token.expiresAt ? held.token : undefined;
    this.#acquiring ??= this.#acquire(valid)
      .then((token) => {
        this.#held = { token, since: this.#clock.now() };
        return token;
      })
      .finally(() => {
        this.#acquiring = undefined;
      });
    try {
      return (await this.#acquiring).value;
    } catch (error) {
      // A token that is still taken bridges an outage of the login.
      if (valid !== undefined) return valid.value;
      throw error;
    }
  }

  /** The token is no longer taken: the next caller logs in again. One that was replaced meanwhile is left alone. */
  drop(value: string): void {
    if (this.#held?.token.value === value) this.#held = undefined;
  }
}

/** A fifth of its life before the end, five minutes at most. */
function marginOf({ token, since }: Held<Token>): number {
  return Math.min(longestMarginMs, (token.expiresAt - since) / 5);
}
