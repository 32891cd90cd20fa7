import { parseAddress } from '../../protocol/policy/ip-range.ts';
import { semaphore } from '../../platform/async/concurrency.ts';
import type { RequestOrigin } from './condition-keys.ts';
import { IdentityError } from './identity-error.ts';

interface AttemptLimit {
  /** Attempts per window. */
  readonly max: number;
  readonly windowMs: number;
}

/**
 * Counts attempts by key in time windows. Each thread counts for itself, so this is not an exact quota. Memory is bounded: when the map is
 * full, the oldest entry goes.
 */
export class Attempts {
  readonly #limit: AttemptLimit;
  readonly #counts = new Map<string, { begun: number; count: number }>();
  static readonly remembered = 10_000;

  constructor(limit: AttemptLimit) {
    this.#limit = limit;
  }

  /** Returns the seconds until the next attempt; 0 if it can be made now. */
  waitSeconds(key: string, nowMs: number): number {
    const entry = this.#current(key, nowMs);
    if (entry === undefined || entry.count < this.#limit.max) return 0;
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
    // The clock was set back, and the window would be longer by that.
    if (nowMs < entry.begun) return undefined;
    return entry;
  }
}

/** Wrong secrets for one account from one address: too few to guess, and more than people mistype. */
const guessLimit = { max: 10, windowMs: 60_000 };
/** Wrong secrets for all accounts from one address. */
const addressLimit = { max: 100, windowMs: 60_000 };
/** Wrong secrets for one account from all addresses. The window is short, so that the owner waits only seconds while others guess. */
const accountLimit = { max: 20, windowMs: 5_000 };
/** Milliseconds for which an address is known after the account signed in from there. */
const familiarForMs = 30 * 86_400_000;
/** Attempts for one account that are checked at the same time, and the maximum with the waiting ones. */
const concurrency = { max: 4, withWaiting: 100 };
/** Milliseconds. An attempt that has waited longer is refused: the service that checks the secrets is slow or does not answer. */
const longestWaitMs = 5_000;

interface SecretAttempt {
  readonly from: Pick<RequestOrigin, 'remoteAddress'>;
  /** Absent if the secret identifies its owner, as a token does. Then only the address is limited. */
  readonly account?: string;
}

/**
 * Limits wrong secrets by account and address, by address, and by account. An address from which the account signed in before is exempt
 * from the last two limits, so that attackers cannot keep the owner out, not even from behind the same proxy. No header of a request raises a limit.
 *
 * Every call that takes a password or a token asks here. Each thread counts for itself.
 */
export class GuessLimits {
  readonly #clock: () => Date;
  readonly #pairs = new Attempts(guessLimit);
  readonly #addresses = new Attempts(addressLimit);
  readonly #accounts = new Attempts(accountLimit);
  readonly #familiar = new Attempts({ max: 1, windowMs: familiarForMs });
  readonly #queues = new Map<string, { readonly run: ReturnType<typeof semaphore>; users: number }>();

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /**
   * Runs `prove`, which rejects if the secret is wrong; `isGuess` selects the errors that mean it. Rejects with `too-many-guesses` after too
   * many wrong secrets, even if this one is right. Attempts for one account run in a queue: otherwise concurrent ones would all run before
   * the first is counted. An attempt that waited too long in the queue is rejected with the same code.
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
    const isFamiliar = account !== undefined && this.#familiar.waitSeconds(pair, now) > 0;
    const ofAccount = isFamiliar ? undefined : account;
    const wait = Math.max(
      account === undefined ? 0 : this.#pairs.waitSeconds(pair, now),
      isFamiliar ? 0 : this.#addresses.waitSeconds(networkOf(from.remoteAddress), now),
      ofAccount === undefined ? 0 : this.#accounts.waitSeconds(ofAccount, now),
    );
    if (wait > 0) throw tooManyGuesses(wait);
  }

  #failed({ from, account }: SecretAttempt): void {
    const now = this.#clock().getTime();
    const network = networkOf(from.remoteAddress);
    this.#addresses.count(network, now);
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

  /** The owner at a known address does not wait behind other clients. */
  async #inTurn<T>({ from, account }: SecretAttempt, work: () => Promise<T>): Promise<T> {
    if (account === undefined) return work();
    const pair = pairOf(from, account);
    const name = this.#familiar.waitSeconds(pair, this.#clock().getTime()) > 0 ? pair : account;
    const queue = this.#queues.get(name) ?? { run: semaphore(concurrency.max), users: 0 };
    if (queue.users >= concurrency.withWaiting) throw tooManyGuesses(1);
    this.#queues.set(name, queue);
    queue.users += 1;
    const arrived = performance.now();
    try {
      return await queue.run(async () => {
        if (performance.now() - arrived > longestWaitMs) throw queueTooSlow();
        return work();
      });
    } finally {
      queue.users -= 1;
      if (queue.users === 0) this.#queues.delete(name);
    }
  }
}

function pairOf({ remoteAddress }: SecretAttempt['from'], account = ''): string {
  return `${networkOf(remoteAddress)} ${account}`;
}

/**
 * Returns the part of an address that identifies a client for a limit. A client of IPv6 has at least 2^64 addresses, and could use another
 * one for each attempt. An IPv4 address is returned whole, also when a proxy writes it as IPv6.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6177
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const groups = parseAddress(address.split('%', 1)[0] ?? '');
  if (groups === undefined) return address;
  if (groups.length === 2) return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.');
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':');
}

function tooManyGuesses(waitSeconds: number): IdentityError {
  return new IdentityError('too-many-guesses', `Too many wrong attempts. Try again in ${waitSeconds} s.`, {
    waitSeconds,
  });
}

function queueTooSlow(): IdentityError {
  const seconds = longestWaitMs / 1000;
  return new IdentityError(
    'too-many-guesses',
    `${concurrency.max} sign-ins of this account are checked at a time, and this one waited longer than ${seconds} s. Try again in ${seconds} s.`,
    { waitSeconds: seconds },
  );
}

export function isTooManyGuesses(error: unknown): error is IdentityError {
  return error instanceof IdentityError && error.code === 'too-many-guesses';
}
