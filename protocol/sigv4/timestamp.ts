/** The last timestamp that was parsed. All requests of one second have the same, and each request uses it three times. */
let lastRead: { readonly text: string; readonly time: number } = { text: '19700101T000000Z', time: 0 };

/** `20130524T000000Z`. */
export function formatTimestamp(date: Date): string {
  if (date.getTime() === lastRead.time) return lastRead.text;
  const day = `${date.getUTCFullYear()}${twoDigits(date.getUTCMonth() + 1)}${twoDigits(date.getUTCDate())}`;
  return `${day}T${twoDigits(date.getUTCHours())}${twoDigits(date.getUTCMinutes())}${twoDigits(date.getUTCSeconds())}Z`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

/** Parses `20130524T000000Z`. Returns undefined for another form or an instant that does not exist. */
export function parseTimestamp(text: string): Date | undefined {
  // A Date is mutable, so each caller gets one of its own.
  if (text === lastRead.text) return new Date(lastRead.time);
  const date = readTimestamp(text);
  if (date !== undefined) lastRead = { text, time: date.getTime() };
  return date;
}

function readTimestamp(text: string): Date | undefined {
  if (!/^\d{8}T\d{6}Z$/.test(text)) return undefined;
  const [year, month, day] = [twoAt(text, 0) * 100 + twoAt(text, 2), twoAt(text, 4), twoAt(text, 6)];
  const [hour, minute, second] = [twoAt(text, 9), twoAt(text, 11), twoAt(text, 13)];
  if (year < 1_000 || hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  // `Date` turns the 31st of February into a day in March, which differs from the text.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : undefined;
}

/** Reads two decimal digits. */
function twoAt(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30;
}

/** Parses a `Date` header, `Fri, 24 May 2013 00:00:00 GMT`. boto3 writes `-0000` for GMT. */
export function parseHttpDate(text: string): Date | undefined {
  if (!/^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (GMT|UTC|[+-]0000)$/.test(text)) return undefined;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
