import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { DatePart } from '../sql/names.ts';

/** The parts that a timestamp has, from the year on. */
type Precision = 'year' | 'month' | 'day' | 'minute' | 'second';

/** A point in time with the precision and the offset of the text that it came from. */
export class Timestamp {
  /** Milliseconds since 1970. */
  readonly ms: number;
  /** Nanoseconds within the millisecond. */
  readonly nanos: number;
  /** Minutes east of UTC. */
  readonly offset: number;
  readonly precision: Precision;
  /** The number of digits of the fraction of the second. */
  readonly digits: number;

  constructor(
    ms: number,
    more: {
      readonly nanos?: number;
      readonly offset?: number;
      readonly precision?: Precision;
      readonly digits?: number;
    } = {},
  ) {
    this.ms = ms;
    this.nanos = more.nanos ?? 0;
    this.offset = more.offset ?? 0;
    requireRange(ms + this.offset * 60_000);
    this.precision = more.precision ?? 'second';
    this.digits = more.digits ?? 0;
  }

  /** The date whose parts in UTC are the local ones of the timestamp. */
  get local(): Date {
    return new Date(this.ms + this.offset * 60_000);
  }

  toString(): string {
    const iso = this.local.toISOString();
    switch (this.precision) {
      case 'year':
        return `${iso.slice(0, 4)}T`;
      case 'month':
        return `${iso.slice(0, 7)}T`;
      case 'day':
        return `${iso.slice(0, 10)}T`;
      case 'minute':
        return `${iso.slice(0, 16)}${zone(this.offset, ':', 'Z')}`;
      case 'second': {
        const fraction = this.digits === 0 ? '' : `.${fractionOf(this).slice(0, this.digits)}`;
        return `${iso.slice(0, 19)}${fraction}${zone(this.offset, ':', 'Z')}`;
      }
      default:
        return this.precision satisfies never;
    }
  }
}

/** The years 1 to 9999 of the local time, as in S3: others have no text of four digits. */
const minMs = -62_135_596_800_000;
const endMs = 253_402_300_800_000;

function requireRange(localMs: number): void {
  if (localMs >= minMs && localMs < endMs) return;
  const date = new Date(localMs);
  const shown = Number.isNaN(date.getTime()) ? `of ${localMs} ms since 1970` : date.toISOString();
  throw new S3Error(
    'EvaluatorInvalidArguments',
    `The timestamp ${shown} is out of range: a query knows the years 1 to 9999. Leave out its column.`,
  );
}

/** Returns the nine digits of the fraction of the second. */
function fractionOf({ ms, nanos }: Timestamp): string {
  return String((((ms % 1_000) + 1_000) % 1_000) * 1_000_000 + nanos).padStart(9, '0');
}

const form =
  /^([0-9]{4})(?:T|-([0-9]{2})(?:T|-([0-9]{2})(?:T(?:([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[+-][0-9]{2}:[0-9]{2}))?)?))$/;

/** Parses the form of Ion, ISO 8601 with any precision: `2007T`, `2007-02T`, `2007-02-23`, `2007-02-23T12:14:33.079-08:00`. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const [, year, month, day, hour, minute, second, fraction, zoneText] = form.exec(text) ?? [];
  if (year === undefined) return undefined;
  const at = new Date(0);
  at.setUTCFullYear(Number(year), Number(month ?? 1) - 1, Number(day ?? 1));
  at.setUTCHours(Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0));
  // A day or an hour that does not exist would become another.
  const made = at.toISOString();
  const given = `${year}-${month ?? '01'}-${day ?? '01'}T${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}`;
  if (!made.startsWith(given) || year === '0000') return undefined;
  const offset = offsetOf(zoneText);
  if (Math.abs(offset) > 1_439) return undefined;
  const nanos = Number((fraction ?? '').padEnd(9, '0'));
  const ms = at.getTime() - offset * 60_000 + Math.floor(nanos / 1_000_000);
  return new Timestamp(ms, {
    nanos: nanos % 1_000_000,
    offset,
    precision: precisionOf(month, day, minute, second),
    digits: fraction?.length ?? 0,
  });
}

function precisionOf(month?: string, day?: string, minute?: string, second?: string): Precision {
  if (second !== undefined) return 'second';
  if (minute !== undefined) return 'minute';
  if (day !== undefined) return 'day';
  return month === undefined ? 'year' : 'month';
}

function offsetOf(text: string | undefined): number {
  if (text === undefined || text === 'Z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(4, 6));
  return text.startsWith('-') ? -minutes : minutes;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

/** Writes an offset as `+07:00`; `utc` means none. */
function zone(offset: number, separator: string, utc: string): string {
  if (offset === 0 && utc !== '') return utc;
  const minutes = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${separator}${pad(minutes % 60)}`;
}

/** Returns a part of the local time. */
export function extractPart(part: DatePart, timestamp: Timestamp): number {
  const { local, offset } = timestamp;
  switch (part) {
    case 'year':
      return local.getUTCFullYear();
    case 'month':
      return local.getUTCMonth() + 1;
    case 'day':
      return local.getUTCDate();
    case 'hour':
      return local.getUTCHours();
    case 'minute':
      return local.getUTCMinutes();
    case 'second':
      return local.getUTCSeconds();
    case 'timezone_hour':
      return Math.trunc(offset / 60);
    case 'timezone_minute':
      return offset % 60;
    default:
      return part satisfies never;
  }
}

const partMs = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1_000 } as const;
const precisions: readonly Precision[] = ['year', 'month', 'day', 'minute', 'second'];

/** Adds whole units. A month that is shorter takes its last day. The result has the precision of the unit at least. */
export function addToDate(part: DatePart, quantity: number, timestamp: Timestamp): Timestamp {
  if (!Number.isSafeInteger(quantity))
    throw new S3Error('EvaluatorInvalidArguments', 'DATE_ADD takes a whole quantity.');
  const { nanos, offset, digits } = timestamp;
  const unit = part === 'hour' ? 'minute' : part;
  const finer = precisions.findLast((one) => one === timestamp.precision || one === unit) ?? 'second';
  const more = { nanos, offset, digits, precision: finer };
  if (part === 'year' || part === 'month') {
    return new Timestamp(addMonths(timestamp, part === 'year' ? quantity * 12 : quantity), more);
  }
  const ms = partMs[part as keyof typeof partMs];
  return new Timestamp(timestamp.ms + quantity * ms, more);
}

function addMonths({ local, ms }: Timestamp, months: number): number {
  const moved = new Date(local);
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const last = new Date(0);
  last.setUTCFullYear(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0);
  moved.setUTCDate(Math.min(local.getUTCDate(), last.getUTCDate()));
  return ms + (moved.getTime() - local.getTime());
}

/** Counts the whole units from one timestamp to another; negative if the other is earlier. */
export function dateDifference(part: DatePart, from: Timestamp, to: Timestamp): number {
  if (part !== 'year' && part !== 'month') {
    return Math.trunc((to.ms - from.ms + (to.nanos - from.nanos) / 1e6) / partMs[part as keyof typeof partMs]) + 0;
  }
  const [a, b] = [from.local, new Date(to.ms + from.offset * 60_000)];
  let months = (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth();
  const reached = addMonths(from, months);
  if (months > 0 && reached > to.ms) months -= 1;
  if (months < 0 && reached < to.ms) months += 1;
  return part === 'month' ? months : Math.trunc(months / 12) + 0;
}

const monthNames = 'January February March April May June July August September October November December'.split(' ');

/**
 * Writes a timestamp by a pattern, e.g. `MMMM d, yyyy h:mm a`.
 *
 * @throws S3Error EvaluatorInvalidTimestampFormatPattern
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-select-sql-reference-date.html
 */
export function formatTimestamp(timestamp: Timestamp, pattern: string): string {
  let text = '';
  for (let at = 0; at < pattern.length;) {
    const letter = pattern.charAt(at);
    if (letter === "'") {
      const end = pattern.indexOf("'", at + 1);
      if (end < 0) throw invalidPattern(pattern);
      text += end === at + 1 ? "'" : pattern.slice(at + 1, end);
      at = end + 1;
      continue;
    }
    let end = at + 1;
    while (pattern.charAt(end) === letter) end += 1;
    const run = pattern.slice(at, end);
    text += /[A-Za-z]/.test(letter) ? formatField(timestamp, run, pattern) : run;
    at = end;
  }
  return text;
}

function formatField(timestamp: Timestamp, run: string, pattern: string): string {
  const { local, offset } = timestamp;
  const length = run.length;
  const number = (value: number) => {
    if (length > 2) throw invalidPattern(pattern);
    return String(value).padStart(length, '0');
  };
  switch (run.charAt(0)) {
    case 'y': {
      const year = String(local.getUTCFullYear());
      if (length > 4) throw invalidPattern(pattern);
      return length === 2 ? year.padStart(2, '0').slice(-2) : year.padStart(length, '0');
    }
    case 'M': {
      const name = monthNames[local.getUTCMonth()] ?? '';
      if (length > 5) throw invalidPattern(pattern);
      if (length === 3) return name.slice(0, 3);
      if (length > 3) return length === 4 ? name : name.slice(0, 1);
      return number(local.getUTCMonth() + 1);
    }
    case 'd':
      return number(local.getUTCDate());
    case 'a':
      return local.getUTCHours() < 12 ? 'AM' : 'PM';
    case 'h':
      return number(local.getUTCHours() % 12 || 12);
    case 'H':
      return number(local.getUTCHours());
    case 'm':
      return number(local.getUTCMinutes());
    case 's':
      return number(local.getUTCSeconds());
    case 'S':
      return fractionOf(timestamp).slice(0, length).padEnd(length, '0');
    case 'n':
      return String(Number(fractionOf(timestamp)));
    case 'X':
    case 'x':
      return formatZone(offset, length, run.startsWith('X') ? 'Z' : '');
    default:
      throw invalidPattern(pattern);
  }
}

function formatZone(offset: number, length: number, utc: string): string {
  if (length === 1) {
    const whole = zone(offset, '', utc);
    return whole.endsWith('00') ? whole.slice(0, 3) : whole;
  }
  return zone(offset, length === 3 || length === 5 ? ':' : '', utc);
}

function invalidPattern(pattern: string): S3Error {
  const shown = JSON.stringify(pattern.slice(0, 64));
  return new S3Error('EvaluatorInvalidTimestampFormatPattern', `The timestamp format pattern ${shown} is not valid.`);
}
