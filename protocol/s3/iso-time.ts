const minute = 60_000;
const day = 24 * 60 * minute;

const minutes = Array.from({ length: 24 * 60 }, (_, index) => `${digits(index / 60, 2)}:${digits(index % 60, 2)}:`);
const seconds = Array.from({ length: 60 }, (_, index) => `${digits(index, 2)}.`);
const milliseconds = Array.from({ length: 1000 }, (_, index) => `${digits(index, 3)}Z`);

/** The day written last, since those of a listing are alike. */
let knownDay = NaN;
let knownText = '';

/** As `Date.prototype.toISOString` writes it, which costs half a microsecond. Throws `RangeError` as that does. */
export function isoTime(time: number): string {
  const dayOfTime = Math.floor(time / day);
  if (dayOfTime !== knownDay) {
    knownText = new Date(dayOfTime * day).toISOString().slice(0, -'00:00:00.000Z'.length);
    knownDay = dayOfTime;
  }
  const inDay = Math.trunc(time) - dayOfTime * day;
  const inMinute = inDay % minute;
  return (
    knownText +
    (minutes[Math.floor(inDay / minute)] ?? '') +
    (seconds[Math.floor(inMinute / 1000)] ?? '') +
    (milliseconds[inMinute % 1000] ?? '')
  );
}

function digits(value: number, count: number): string {
  return String(Math.floor(value)).padStart(count, '0');
}
