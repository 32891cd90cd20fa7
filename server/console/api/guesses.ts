import type { Response } from 'express';
import type { Source } from '../../access/source-address.ts';
import { Attempts } from './attempts.ts';
import { ConsoleError } from './console-error.ts';

/** Ten wrong secrets a minute for a name from one address: nobody guesses at that rate, and nobody mistypes so often. */
export const guesses = { most: 10, windowMs: 60_000 };
/** For all names from one address. */
const guessesFromAddress = { most: 100, windowMs: 60_000 };
/** For one name from all addresses. The window is short, so that the right password waits for seconds, however many guess. */
const guessesOfAccount = { most: 20, windowMs: 5_000 };
/** Where an account signed in, milliseconds. */
const familiarForMs = 30 * 86_400_000;

export interface SignInAttempt {
  readonly source: Source;
  readonly account: string;
  readonly now: number;
}

/**
 * Limits wrong secrets by the account from one address, by the address, and by the account from everywhere. An address from which the
 * account signed in before is free of the last, so that strangers who guess do not keep the owner out. An address that an unknown proxy
 * puts before many people is free of the second, so that one of them does not keep the others out.
 */
export class SignInLimits {
  readonly #pairs = new Attempts(guesses);
  readonly #addresses = new Attempts(guessesFromAddress);
  readonly #accounts = new Attempts(guessesOfAccount);
  readonly #familiar = new Attempts({ most: 1, windowMs: familiarForMs });

  /** Throws where too many were wrong, whether or not this one is right. `by`: what the account is called, for people. */
  refuse(response: Response, { source, account, now }: SignInAttempt, by: string): void {
    const pair = pairOf(source, account);
    const wait = Math.max(
      this.#pairs.waitSeconds(pair, now),
      source.shared ? 0 : this.#addresses.waitSeconds(source.address, now),
      this.#familiar.waitSeconds(pair, now) > 0 ? 0 : this.#accounts.waitSeconds(account, now),
    );
    if (wait === 0) return;
    response.set('retry-after', String(wait));
    throw new ConsoleError('TooManyAttempts', `Too many attempts with this ${by}. Try again in ${wait} s.`);
  }

  failed({ source, account, now }: SignInAttempt): void {
    this.#pairs.count(pairOf(source, account), now);
    this.#addresses.count(source.address, now);
    this.#accounts.count(account, now);
  }

  succeeded({ source, account, now }: SignInAttempt): void {
    this.#pairs.forget(pairOf(source, account));
    this.#familiar.forget(pairOf(source, account));
    this.#familiar.count(pairOf(source, account), now);
  }
}

function pairOf({ address }: Source, account: string): string {
  return `${address} ${account}`;
}
