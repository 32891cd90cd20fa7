import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTimestamp, parseTimestamp } from './timestamp.ts';

describe('timestamps', () => {
  it('are read as they are written', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          date.setUTCMilliseconds(0);
          expect(parseTimestamp(formatTimestamp(date))).toEqual(date);
        },
      ),
    );
  });

  // The module remembers the last timestamp, and a new process has none.
  it('refuse the empty text as the first of a process', async () => {
    const fresh: string = './timestamp.ts?fresh';
    const module = (await import(fresh)) as { parseTimestamp: typeof parseTimestamp };
    expect(module.parseTimestamp('')).toBeUndefined();
  });

  it.each([
    '20240230T000000Z',
    '20241301T000000Z',
    '20240001T000000Z',
    '20240101T240000Z',
    '20240101T006000Z',
    '20240101T000060Z',
    '2024-01-01T00:00:00Z',
    '',
  ])('%s is none', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});
