import { durationMs } from '../../../../protocol/text/duration.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';

/**
 * Parses a duration such as `7d10h31s` and returns milliseconds.
 *
 * @throws ProgramError BadArgument
 */
export function parseDuration(option: string, text: string): number {
  const duration = durationMs(text, ['y', 'w', 'd', 'h', 'm', 's']);
  if (duration !== undefined) return duration;
  throw new ProgramError('BadArgument', `Invalid ${option} \`${text}\`: write a duration such as 7d10h31s`);
}

const date = /^(\d{4})[.-](\d{2})[.-](\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2}))?)?$/;

/**
 * Parses `--rewind`: a duration before `now`, or a date such as `2020.01.01` or `2020.01.01T11:30` in the time zone of the machine, or a
 * date of ISO 8601 with its time zone.
 *
 * @throws ProgramError BadArgument
 */
export function parseRewind(text: string, now: Date): Date {
  return parseMoment('--rewind', text, now);
}

function parseMoment(option: string, text: string, now: Date): Date {
  if (/^(\d{1,9}[ywdhms])+$/.test(text)) return new Date(now.getTime() - parseDuration(option, text));
  const [year, month, day, hour = 0, minute = 0, second = 0] = (date.exec(text) ?? []).slice(1).map(numberOf);
  const given =
    year === undefined || month === undefined || day === undefined
      ? withZone(text)
      : new Date(year, month - 1, day, hour, minute, second);
  // The engine takes 30 February for 2 March, and month 13 for January.
  const exists = day === undefined || (given?.getDate() === day && given.getMonth() + 1 === month);
  if (given !== undefined && !Number.isNaN(given.getTime()) && exists) {
    return given;
  }
  throw new ProgramError(
    'BadArgument',
    `Invalid ${option} \`${text}\`: write a date such as 2020.01.01, 2020.01.01T11:30 or 2020-01-01T11:30:00Z, or a duration such as 7d10h31s`,
  );
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function withZone(text: string): Date | undefined {
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? new Date(text) : undefined;
}

/** The flags that choose by age. */
export interface AgeOptions {
  readonly olderThan?: string;
  readonly newerThan?: string;
}

/** Returns a test of the time of an entry by `--older-than` and `--newer-than`, which are durations or times as for `--rewind`. */
export function ageTest({ olderThan, newerThan }: AgeOptions, now: Date): (modified: Date) => boolean {
  const before = olderThan === undefined ? Infinity : parseMoment('--older-than', olderThan, now).getTime();
  const after = newerThan === undefined ? -Infinity : parseMoment('--newer-than', newerThan, now).getTime();
  return (modified) => modified.getTime() < before && modified.getTime() > after;
}
