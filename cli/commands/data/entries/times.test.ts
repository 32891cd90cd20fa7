import { describe, expect, it } from 'vitest';
import { ageTest, parseDuration, parseRewind } from './times.ts';

const now = new Date('2026-03-10T12:00:00Z');

describe('a duration', () => {
  it.each([
    ['30s', 30],
    ['1d', 86_400],
    ['7d10h31s', 7 * 86_400 + 10 * 3_600 + 31],
    ['1y', 365 * 86_400],
  ])('%s', (text, seconds) => {
    expect(parseDuration('--older-than', text)).toBe(seconds * 1_000);
  });

  it.each(['', '5', 'd', '1x', '-1d', '1.5d', '99999999999d'])('"%s" is refused by the name of its flag', (text) => {
    expect(() => parseDuration('--older-than', text)).toThrow('Invalid --older-than');
  });
});

describe('--rewind', () => {
  it.each([
    ['7d', new Date('2026-03-03T12:00:00Z')],
    ['2020.01.02', new Date(2020, 0, 2)],
    ['2020.01.02T11:30', new Date(2020, 0, 2, 11, 30)],
    ['2020-01-02T11:30:05', new Date(2020, 0, 2, 11, 30, 5)],
    ['2020-01-02T11:30:05Z', new Date('2020-01-02T11:30:05Z')],
    ['2020-01-02T11:30:05+02:00', new Date('2020-01-02T09:30:05Z')],
  ])('%s', (text, time) => {
    expect(parseRewind(text, now)).toEqual(time);
  });

  it.each(['', 'yesterday', '2020.02.30', '2020.13.01', '01.01.2020', '2020-99-99T00:00:00Z'])(
    '"%s" is refused',
    (text) => {
      expect(() => parseRewind(text, now)).toThrow('Invalid --rewind');
    },
  );
});

describe('the test of ages', () => {
  it.each([
    [{}, true, true],
    [{ olderThan: '2d' }, true, false],
    [{ newerThan: '2d' }, false, true],
    [{ olderThan: '2d', newerThan: '1d' }, false, false],
  ])('%j', (options, old, recent) => {
    const test = ageTest(options, now);
    expect([test(new Date('2026-03-05T12:00:00Z')), test(new Date('2026-03-09T12:00:00Z'))]).toEqual([old, recent]);
  });
});
