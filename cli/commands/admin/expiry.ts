import { parseDuration, ValueError } from '../../../platform/settings/parse-value.ts';
import { CliError } from '../../cli-error.ts';

export interface ExpiryOptions {
  /** `2030-01-31`, or with a time. */
  readonly expiry?: string;
  /** `24h`, `90d`. */
  readonly expiryDuration?: string;
}

/** The end of a key as the admin API has it; undefined where none is asked for. Times without a zone are UTC. */
export function expiration({ expiry, expiryDuration }: ExpiryOptions, now: Date): string | undefined {
  if (expiry !== undefined && expiryDuration !== undefined) {
    throw new CliError('BadArgument', 'Give either --expiry, a time, or --expiry-duration, not both');
  }
  const end = expiry === undefined ? after(expiryDuration, now) : timeOf(expiry);
  return end?.toISOString().replace(/\.\d+Z$/, 'Z');
}

function after(duration: string | undefined, now: Date): Date | undefined {
  if (duration === undefined) return undefined;
  try {
    return new Date(now.getTime() + parseDuration(duration));
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new CliError('BadArgument', `Invalid --expiry-duration \`${duration}\`: ${error.message}`);
  }
}

function timeOf(text: string): Date {
  const form = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?))?(Z|[+-]\d\d:\d\d)?$/.exec(text);
  const [, day = '', time = '00:00', zone = 'Z'] = form ?? [];
  const date = new Date(`${day}T${time}${zone}`);
  if (form !== null && !Number.isNaN(date.getTime())) return date;
  throw new CliError('BadArgument', `Invalid --expiry \`${text}\`: write 2030-01-31, or 2030-01-31T08:00:00Z`);
}
