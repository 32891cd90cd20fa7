import { expect, it } from 'vitest';
import { readInstant } from './instant.ts';

it.each([
  ['2026-11-24T00:00:00Z', Date.UTC(2026, 10, 24)],
  ['2026-11-24T00:00:00.5Z', Date.UTC(2026, 10, 24) + 500],
  ['2026-11-24T01:00:00.123000000+01:00', Date.UTC(2026, 10, 24) + 123],
  ['2026-11-24T00:00:00.123456789Z', `${Date.UTC(2026, 10, 24) + 123}.456789`],
  ['2026-11-24T00:00:00.000000001Z', `${Date.UTC(2026, 10, 24)}.000001`],
])('a time of RFC 3339 is read whole: %s', (text, moment) => {
  expect(readInstant(text)).toBe(moment);
});

it.each(['', '2026-11-24', '2026-13-24T00:00:00Z', '2026-11-24T00:00:00.1234567891Z', '1969-12-31T23:59:59Z'])(
  'another text is no time: %j',
  (text) => {
    expect(readInstant(text)).toBeUndefined();
  },
);
