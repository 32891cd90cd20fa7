import type { Clock } from './remote.ts';

export interface Token {
  readonly value: string;
  /** Milliseconds since 1970; Infinity for a token that does not expire. */
  readonly expiresAt: number;
}

const maxMarginMs = 300_000;

interface Held<T extends Token> {
  readonly token: T;
  readonly since: number;
}

/** Keeps the token of a login and renews it before it expires. Concurrent callers share one login. */
export class TokenSource<T extends Token = Token> {
  readonly #acquire: (previous: T | undefined) => Promise<T>;
  readonly #clock: Clock;
  #held: Held<T> | undefined;
  #acquiring: Promise<T> | undefined;

  /** `acquire` receives the token to replace, while that is valid. */
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
      // A token that is still valid bridges an outage of the login.
      if (valid !== undefined) return valid.value;
      throw error;
    }
  }

  /** Drops a rejected token, so that the next caller logs in again. A newer token is kept. */
  drop(value: string): void {
    if (this.#held?.token.value === value) this.#held = undefined;
  }
}

/** Renews a token after four fifths of its lifetime, at most five minutes before its end. */
function marginOf({ token, since }: Held<Token>): number {
  return Math.min(maxMarginMs, (token.expiresAt - since) / 5);
}
