/** `20130524T000000Z`. */
export function formatTimestamp(date: Date): string {
  const iso = date.toISOString();
  return `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`;
}

/** The instant of `20130524T000000Z`; undefined when it is not of this form or names no real instant. */
export function parseTimestamp(text: string): Date | undefined {
  if (!/^\d{8}T\d{6}Z$/.test(text)) return undefined;
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(4, 6)), Number(text.slice(6, 8))];
  const [hour, minute, second] = [Number(text.slice(9, 11)), Number(text.slice(11, 13)), Number(text.slice(13, 15))];
  if (year < 1_000 || hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  // The 31st of February becomes a day in March: it is refused by coming out different.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : undefined;
}

/** The instant of a `Date` header, `Fri, 24 May 2013 00:00:00 GMT`. */
export function parseHttpDate(text: string): Date | undefined {
  if (!/^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (GMT|UTC|\+0000)$/.test(text)) return undefined;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
