import { longestDuration, shortestDuration } from '../../sts/credential-lifetime.ts';
import type { ConsoleSettings } from '../services.ts';

/** As long as a session of the console, within what STS gives. Seconds. */
export function signInDuration({ sessionDurationMs }: Pick<ConsoleSettings, 'sessionDurationMs'>): number {
  return Math.min(longestDuration, Math.max(shortestDuration, Math.floor(sessionDurationMs / 1000)));
}
