/// <reference lib="esnext.temporal" />
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { zones } from '../../../test/support/time-zones.ts';
import { isoOf, localText } from './zoned-time.ts';

/** Whole seconds: a field has no fractions. */
const moments = fc
  .integer({ min: Date.parse('1975-01-01T00:00:00Z') / 1_000, max: Date.parse('2125-01-01T00:00:00Z') / 1_000 })
  .map((seconds) => new Date(seconds * 1_000).toISOString());

describe.each(zones)('in the zone %s', (zone) => {
  it('the field shows the date and the time of the zone', () => {
    fc.assert(
      fc.property(moments, (iso) => {
        const shown = Temporal.Instant.from(iso).toZonedDateTimeISO(zone).toPlainDateTime();
        expect(localText(iso, zone)).toBe(shown.toString({ smallestUnit: 'second' }));
      }),
      { numRuns: 100 },
    );
  });

  it('a time of the field is the moment that it is there', () => {
    fc.assert(
      fc.property(moments, (iso) => {
        const text = iso.slice(0, 19);
        const moment = Temporal.PlainDateTime.from(text).toZonedDateTime(zone, { disambiguation: 'compatible' });
        expect(isoOf(text, zone)).toBe(new Date(moment.epochMilliseconds).toISOString());
      }),
      { numRuns: 100 },
    );
  });
});

it.each([
  // The hour from 2 to 3 comes twice on this day, and not at all on that one.
  ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  ['2026-03-29T02:30:00', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ['2026-01-31T15:04', 'Asia/Kolkata', '2026-01-31T09:34:00.000Z'],
])('takes %s in %s for %s', (text, zone, iso) => {
  expect(isoOf(text, zone)).toBe(iso);
});

it.each(['', '2026-01-31', 'yesterday', '2026-02-31T00:00:00Z'])('takes %j for no moment', (text) => {
  expect(isoOf(text, 'UTC')).toBeUndefined();
});

it.each(['', 'x'])('shows %j as an empty field', (iso) => {
  expect(localText(iso, 'UTC')).toBe('');
});
