import { StsError } from './sts-error.ts';

/** Seconds: a quarter of an hour to a year. */
export const shortestDuration = 900;
export const longestDuration = 31_536_000;

/** DurationSeconds as the request has it; undefined without one. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return checkDuration(seconds, text);
}

export function checkDuration(seconds: number, given: string = String(seconds)): number {
  if (Number.isInteger(seconds) && seconds >= shortestDuration && seconds <= longestDuration) return seconds;
  throw new StsError(
    'InvalidParameterValue',
    `DurationSeconds must be a whole number from ${shortestDuration} to ${longestDuration}, not "${given.slice(0, 40)}".`,
  );
}

/** When credentials end: with the token, or sooner where a duration is asked for. Never later than the token. */
export function expirationOf(tokenExpiration: Date, durationSeconds: number | undefined, now: Date): Date {
  const asked = now.getTime() + (durationSeconds ?? longestDuration) * 1_000;
  // Whole seconds, rounded down: that is all that the session token and the XML can say.
  return new Date(Math.floor(Math.min(tokenExpiration.getTime(), asked) / 1_000) * 1_000);
}

/** So many seconds from now, rounded down to whole ones. */
export function expirationIn(seconds: number, now: Date): Date {
  return new Date((Math.floor(now.getTime() / 1_000) + seconds) * 1_000);
}
