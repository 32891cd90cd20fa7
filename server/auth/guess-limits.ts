import { limitedTurns } from '../../platform/concurrency.ts';
import type { RequestOrigin } from './condition-keys.ts';

interface AttemptLimit {
  /** Attempts in one window. */
  readonly most: number;
  readonly windowMs: number;
}

/**
 * Counts attempts by key in windows of time. Each thread counts for itself: this slows guessing down to nothing, it is not a
 * quota. What it remembers is bounded; when full, the oldest is forgotten.
 */
export class Attempts {
  readonly #limit: AttemptLimit;
  readonly #counts = new Map<string, { begun: number; count: number }>();
  static readonly remembered = 10_000;

  constructor(limit: AttemptLimit) {
    this.#limit = limit;
  }

  /** Seconds to wait before the next attempt; 0 when it may be made. */
  waitSeconds(key: string, nowMs: number): number {
    const entry = this.#current(key, nowMs);
    if (entry === undefined || entry.count < this.#limit.most) return 0;
    return Math.max(1, Math.ceil((entry.begun + this.#limit.windowMs - nowMs) / 1000));
  }

  count(key: string, nowMs: number): void {
    const entry = this.#current(key, nowMs) ?? { begun: nowMs, count: 0 };
    entry.count += 1;
    this.#counts.delete(key);
    this.#counts.set(key, entry);
    if (this.#counts.size <= Attempts.remembered) return;
    for (const oldest of this.#counts.keys()) {
      this.#counts.delete(oldest);
      break;
    }
  }

  forget(key: string): void {
    this.#counts.delete(key);
  }

  #current(key: string, nowMs: number): { begun: number; count: number } | undefined {
    const entry = this.#counts.get(key);
    if (entry === undefined || nowMs - entry.begun >= this.#limit.windowMs) return undefined;
    return entry;
  }
}

/** Ten wrong secrets a minute for an account from one address: too few to guess by, and more than people mistype. */
const guesses = { most: 10, windowMs: 60_000 };
/** For all accounts from one address. */
const guessesFromAddress = { most: 100, windowMs: 60_000 };
/** For one account from all addresses. The window is short, so that the right password waits for seconds, however many guess. */
const guessesOfAccount = { most: 20, windowMs: 5_000 };
/** Where an account signed in, milliseconds. */
const familiarForMs = 30 * 86_400_000;
/** Attempts for one account that are proven at the same time; and with those that wait for their turn. */
const underWay = { most: 4, withWaiting: 100 };

interface SecretAttempt {
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
