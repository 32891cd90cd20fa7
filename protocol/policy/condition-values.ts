/** An exact decimal number, also beyond 2^53. */
export interface Decimal {
  readonly value: bigint;
  /** Digits after the point that `value` holds. */
  readonly scale: number;
}

/** Parses an integer or decimal number of at most 40 digits, such as `10`, `-1` or `2.50`. Returns undefined for any other text. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d{1,40})(?:\.(\d{1,40}))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  return { value: BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`), scale: fraction.length };
}

/** Returns a negative number, 0 or a positive number if the first is smaller, equal or larger. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [left, right] = [a.value * 10n ** BigInt(b.scale), b.value * 10n ** BigInt(a.scale)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The end of the year 9999 in seconds of 1970. A larger number is milliseconds where seconds are expected. */
const lastSecond = 253_402_300_799;

const isoDate =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?([Zz]|[+-]\d\d:\d\d))?)?)?$/;
/** The form of the timestamps of signatures. */
const basicDate = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)()(Z)$/;

/**
 * Parses a point in time and returns milliseconds of 1970. It accepts ISO 8601 as W3C profiles it (`2026`, `2026-11`, `2026-11-21`,
 * `2026-11-21T20:40Z`, `2026-11-21T20:40:00.5+01:00`), its basic form `20261121T204000Z`, and seconds of 1970. Four digits are a year.
 * Returns undefined for any other text, and for a time of day without a zone.
 *
 * @see https://www.w3.org/TR/NOTE-datetime
 */
export function parseDate(text: string): number | undefined {
  if (/^\d{1,13}(\.\d{1,9})?$/.test(text) && !/^\d{4}$/.test(text)) {
    return Number(text) <= lastSecond ? Number(text) * 1000 : undefined;
  }
  const match = isoDate.exec(text) ?? basicDate.exec(text);
  if (match === null) return undefined;
  const [, year, month = '1', day = '1', hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = match;
  const fields = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const;
  const time = utc(fields);
  const offset = zoneMinutes(zone);
  if (time === undefined || offset === undefined) return undefined;
  return time - offset * 60_000 + Number(`0.${fraction || '0'}`) * 1000;
}

/** Returns undefined if a field is out of its range: `Date` would carry 30 February into March. */
function utc(fields: readonly [number, number, number, number, number, number]): number | undefined {
  const [year, month, day, hour, minute, second] = fields;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, minute, second);
  const same =
    date.getUTCMonth() === month &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second;
  return same ? date.getTime() : undefined;
}

function zoneMinutes(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
  if (hours > 14 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
