import type { Response } from 'express';
import type { Attempts } from './attempts.ts';
import { ConsoleError } from './console-error.ts';

/** Ten wrong secrets a minute for a name from one address: nobody guesses at that rate, and nobody mistypes so often. */
export const guesses = { most: 10, windowMs: 60_000 };

interface Guess {
  /** Address and name. */
  readonly who: string;
  readonly now: number;
  /** What the name is, for people. */
  readonly by: string;
}

/** Throws where too many were wrong, whether or not this one is right. */
export function refuseGuessing(attempts: Attempts, response: Response, { who, now, by }: Guess): void {
  const wait = attempts.waitSeconds(who, now);
  if (wait === 0) return;
  response.set('retry-after', String(wait));
  throw new ConsoleError('TooManyAttempts', `Too many attempts with this ${by}. Try again in ${wait} s.`);
}
