/**
 * A moment: milliseconds since 1970, or text with nanoseconds, `1764540000123.000456`. The text has 6 digits after the point, not all 0.
 */
export type Instant = number | string;

const FRACTION = 6;

/** `nanoseconds` are those within the millisecond. */
export function instant(milliseconds: number, nanoseconds = 0): Instant {
  return nanoseconds === 0 ? milliseconds : `${milliseconds}.${String(nanoseconds).padStart(FRACTION, '0')}`;
}

/** Returns the whole milliseconds of a moment, and the nanoseconds within the next one. */
export function partsOfInstant(moment: Instant): { readonly milliseconds: number; readonly nanoseconds: number } {
  const [milliseconds, nanoseconds = 0] = String(moment).split('.').map(Number);
  return { milliseconds: milliseconds ?? 0, nanoseconds };
}

/** Negative where the first moment is earlier. */
export function compareInstants(one: Instant, other: Instant): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const [first, second] = [partsOfInstant(one), partsOfInstant(other)];
  return first.milliseconds - second.milliseconds || first.nanoseconds - second.nanoseconds;
}

const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Reads a time of RFC 3339 with up to 9 digits of a second. Returns undefined for another text, and for a time before 1970. */
export function readInstant(text: string): Instant | undefined {
  const [, seconds = '', fraction = '', zone = ''] = rfc3339.exec(text) ?? [];
  const start = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(start) || start < 0) return undefined;
  const nanoseconds = fraction.padEnd(9, '0');
  return instant(start + Number(nanoseconds.slice(0, 3)), Number(nanoseconds.slice(3)));
}

/** Writes a moment as a time of RFC 3339 with the digits that it has. */
export function writeInstant(moment: Instant): string {
  const { milliseconds } = partsOfInstant(moment);
  const [, fraction = ''] = String(moment).split('.');
  return new Date(milliseconds).toISOString().replace('Z', `${fraction}Z`);
}

/** Returns the whole milliseconds of a moment. */
export function millisecondsAt(moment: Instant): number {
  return partsOfInstant(moment).milliseconds;
}
