const dayMs = 86_400_000;

/** The day that was written last, and how it reads: most objects are of few days, and writing one anew costs five times as much. */
let last = { day: Number.NaN, text: '' };

/** As `toUTCString`: `Fri, 24 May 2013 00:00:00 GMT`. */
export function httpDate(date: Date): string {
  const time = date.getTime();
  const day = Math.floor(time / dayMs);
  if (day !== last.day) last = { day, text: date.toUTCString().slice(0, -'00:00:00 GMT'.length) };
  const seconds = Math.floor((time - day * dayMs) / 1_000);
  const hour = Math.floor(seconds / 3_600);
  return `${last.text}${twoDigits(hour)}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)} GMT`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}
