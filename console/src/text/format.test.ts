/// <reference lib="esnext.temporal" />
import { beforeAll, describe, expect, it } from 'vitest';
import { zones } from '../../../test/support/time-zones.ts';
import {
  exactFormat,
  formatBytes,
  formatDay,
  formatDuration,
  formatMillisecond,
  formatSecond,
  formatUntil,
  millisecondFormat,
} from './format.ts';
import { loadFirstTexts } from '../texts/texts.ts';

beforeAll(loadFirstTexts);

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [5 * 1024 ** 2, '5.0 MiB'],
    [123_456_789, '118 MiB'],
    [5 * 1024 ** 3, '5.0 GiB'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});

const now = Date.UTC(2026, 0, 1);

describe('times', () => {
  const at = new Date(2026, 10, 27, 6, 5, 4, 30).toISOString();

  it('writes the second of a version', () => {
    expect(formatSecond(at)).toMatch(/^Nov 27, 2026, 6:05:04\sAM$/);
  });

  it('writes the millisecond of a line of a log', () => {
    expect(formatMillisecond(at)).toMatch(/^Nov 27, 2026, 6:05:04\.030\sAM$/);
  });

  it.each([
    ['en-GB', '27 Nov 2026, 06:05:04.030'],
    ['de', '27. Nov. 2026, 06:05:04,030'],
    ['zh', '2026年11月27日 06:05:04.030'],
  ])('writes the hour of a line of a log with two digits, as other times of %s', (language, text) => {
    expect(millisecondFormat(language).format(new Date(at))).toBe(text);
  });

  it('writes a day of the server, which is one in UTC', () => {
    expect(formatDay(Date.UTC(2026, 10, 27))).toBe('Nov 27, 2026');
  });
});

describe('formatUntil', () => {
  it.each([
    [-1, 'now'],
    [30_000, 'in less than a minute'],
    [60_000, 'in 1 minute'],
    [59 * 60_000, 'in 59 minutes'],
    [12 * 3_600_000 - 1, 'in 11 hours'],
    [49 * 3_600_000, 'in 2 days'],
  ])('says of %d ms ahead: %s', (ms, text) => {
    expect(formatUntil(new Date(now + ms).toISOString(), now)).toBe(text);
  });
});

describe('formatDuration', () => {
  it.each([
    [1, '1 second'],
    [900, '15 minutes'],
    [599, '9 minutes, 59 seconds'],
    [3_600, '1 hour'],
    [3_601, '1 hour'],
    [9_000, '2 hours, 30 minutes'],
    [604_800, '7 days'],
    [603_000, '6 days, 23 hours'],
  ])('writes %d s as %s', (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words);
  });
});

// What the forms of retention, expiration, rewind and shared links say.
describe.each(zones)('a moment in words in the zone %s', (zone) => {
  it.each(['en', 'de', 'zh'])('has the day and the time of the zone, and names it, in %s', (language) => {
    for (const iso of ['2026-12-31T23:30:15.250Z', '2027-07-01T00:10:20Z']) {
      const there = Temporal.Instant.from(iso).toZonedDateTimeISO(zone);
      const parts = new Map(
        exactFormat(language, zone)
          .formatToParts(Date.parse(iso))
          .map(({ type, value }) => [type, value]),
      );
      expect([parts.get('day'), parts.get('minute'), parts.get('second')].map(Number)).toEqual([
        there.day,
        there.minute,
        there.second,
      ]);
      expect(Number(parts.get('hour')) % 12).toBe(there.hour % 12);
      expect(parts.get('timeZoneName')).toMatch(/\S/);
    }
  });
});
