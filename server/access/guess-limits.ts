import { limitedTurns } from '../../platform/limited-turns.ts';
import { Attempts } from './attempts.ts';
import type { RequestOrigin } from './connection-context.ts';

/** Ten wrong secrets a minute for an account from one address: too few to guess by, and more than people mistype. */
export const guesses = { most: 10, windowMs: 60_000 };
/** For all accounts from one address. */
const guessesFromAddress = { most: 100, windowMs: 60_000 };
/** For one account from all addresses. The window is short, so that the right password waits for seconds, however many guess. */
const guessesOfAccount = { most: 20, windowMs: 5_000 };
/** Where an account signed in, milliseconds. */
const familiarForMs = 30 * 86_400_000;
/** Attempts for one account that are proven at the same time; and with those that wait for their turn. */
const underWay = { most: 4, withWaiting: 100 };

export interface SecretAttempt {
  readonly from: Pick<RequestOrigin, 'remoteAddress' | 'sharedAddress'>;
  /** Absent where the secret itself names its owner, as a token does: then the address alone is limited. */
  readonly account?: string;
}

export class TooManyGuesses extends Error {
  override readonly name = 'TooManyGuesses';
  readonly code = 'too-many-guesses';
  readonly waitSeconds: number;

  constructor(waitSeconds: number) {
    super(`Too many wrong attempts. Try again in ${waitSeconds} s.`);
    this.waitSeconds = waitSeconds;
  }
}

/**
 * Limits wrong secrets by the account from one address, by the address, and by the account from everywhere. An address from which the
 * account signed in before is free of the last, so that strangers who guess do not keep the owner out. An address that an unknown proxy
 * puts before many clients is free of the second, so that one of them does not keep the others out.
 *
 * Whatever takes a password or a token that could be guessed asks here. Each thread counts for itself.
 */
export class GuessLimits {
  readonly #clock: () => Date;
  readonly #pairs = new Attempts(guesses);
  readonly #addresses = new Attempts(guessesFromAddress);
  readonly #accounts = new Attempts(guessesOfAccount);
  readonly #familiar = new Attempts({ most: 1, windowMs: familiarForMs });
  readonly #queues = new Map<string, { readonly run: ReturnType<typeof limitedTurns>; users: number }>();

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /**
   * Runs `prove`, which rejects where the secret is wrong; `isGuess` says which of its errors mean that. Rejects with `TooManyGuesses`
   * where too many were wrong before, whether or not this one is right. Attempts for one account take turns, or those that are sent at
   * the same time would all be proven before the first is counted.
   */
  async attempt<T>(of: SecretAttempt, prove: () => Promise<T>, isGuess: (error: unknown) => boolean): Promise<T> {
    this.#refuse(of);
    return this.#inTurn(of, async () => {
      this.#refuse(of);
      try {
        const proven = await prove();
        this.#succeeded(of);
        return proven;
      } catch (error) {
        if (isGuess(error)) this.#failed(of);
        throw error;
      }
    });
  }

  #refuse({ from, account }: SecretAttempt): void {
    const now = this.#clock().getTime();
    const pair = pairOf(from, account);
    const ofAccount = account === undefined || this.#familiar.waitSeconds(pair, now) > 0 ? undefined : account;
    const wait = Math.max(
      account === undefined ? 0 : this.#pairs.waitSeconds(pair, now),
      from.sharedAddress === true ? 0 : this.#addresses.waitSeconds(from.remoteAddress, now),
      ofAccount === undefined ? 0 : this.#accounts.waitSeconds(ofAccount, now),
    );
    if (wait > 0) throw new TooManyGuesses(wait);
  }

  #failed({ from, account }: SecretAttempt): void {
    const now = this.#clock().getTime();
    this.#addresses.count(from.remoteAddress, now);
    if (account === undefined) return;
    this.#pairs.count(pairOf(from, account), now);
    this.#accounts.count(account, now);
  }

  #succeeded({ from, account }: SecretAttempt): void {
    if (account === undefined) return;
    const pair = pairOf(from, account);
    this.#pairs.forget(pair);
    this.#familiar.forget(pair);
    this.#familiar.count(pair, this.#clock().getTime());
  }

  /** The owner at a familiar address does not wait behind strangers. */
  async #inTurn<T>({ from, account }: SecretAttempt, work: () => Promise<T>): Promise<T> {
    if (account === undefined) return work();
    const pair = pairOf(from, account);
    const name = this.#familiar.waitSeconds(pair, this.#clock().getTime()) > 0 ? pair : account;
    const queue = this.#queues.get(name) ?? { run: limitedTurns(underWay.most), users: 0 };
    if (queue.users >= underWay.withWaiting) throw new TooManyGuesses(1);
    this.#queues.set(name, queue);
    queue.users += 1;
    try {
      return await queue.run(work);
    } finally {
      queue.users -= 1;
      if (queue.users === 0) this.#queues.delete(name);
    }
  }
}

function pairOf({ remoteAddress }: SecretAttempt['from'], account = ''): string {
  return `${remoteAddress} ${account}`;
}
