/** `20130524T000000Z`. */
export function formatTimestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** The instant of `20130524T000000Z`; undefined when it is not of this form or names no real instant. */
export function parseTimestamp(text: string): Date | undefined {
  const match = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // The 31st of February parses to an instant in March: it is refused by coming out different.
  return !Number.isNaN(date.getTime()) && formatTimestamp(date) === text ? date : undefined;
}

/** The instant of a `Date` header, `Fri, 24 May 2013 00:00:00 GMT`. */
export function parseHttpDate(text: string): Date | undefined {
  if (!/^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (GMT|UTC|\+0000)$/.test(text)) return undefined;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
