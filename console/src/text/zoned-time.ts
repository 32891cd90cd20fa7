const formats = new Map<string, Intl.DateTimeFormat>();

/** The time zone of the user. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns the date and the time of a zone at a moment, as the milliseconds since 1970 of a clock in UTC that shows the same. */
function wallClock(ms: number, zone: string): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
}

/** Returns the value of a field for a time with seconds, `2026-01-31T15:04:05`, of a moment in a zone; empty for no moment. */
export function localText(iso: string, zone: string): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? '' : new Date(wallClock(ms, zone)).toISOString().slice(0, 19);
}

const dayMs = 86_400_000;

/**
 * Returns the moment of a field's value in a zone; undefined for another text. A time that comes twice is the first one, and a time that the
 * change to summer time skips is as much later.
 */
export function isoOf(text: string, zone: string): string | undefined {
  const wall = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/.test(text) ? Date.parse(`${text}Z`) : NaN;
  if (Number.isNaN(wall)) return undefined;
  const [before, after] = [wall - dayMs, wall + dayMs].map((near) => near - wallClock(near, zone));
  if (before === undefined || after === undefined) return undefined;
  const moment = [wall + before, wall + after]
    .toSorted((one, other) => one - other)
    .find((ms) => wallClock(ms, zone) === wall);
  return new Date(moment ?? wall + before).toISOString();
}
