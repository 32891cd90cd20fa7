import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { zones } from '../../../test/support/time-zones.ts';
import { retentionChange, retentionForm } from './retention-change.ts';

/** With fractions of a second, as locks may have them. */
const moments = fc
  .date({ min: new Date('2026-01-01T00:00:00Z'), max: new Date('2125-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const modes = fc.constantFrom('GOVERNANCE' as const, 'COMPLIANCE' as const);

describe.each(zones)('in the zone %s', (zone) => {
  it('Save without a change sends nothing', () => {
    fc.assert(
      fc.property(modes, moments, (mode, until) => {
        const lock = { mode, until, legalHold: false };
        expect(retentionChange(lock, retentionForm(lock, zone), zone)).toEqual({ kind: 'none' });
      }),
      { numRuns: 100 },
    );
  });

  it('another mode keeps the moment to its millisecond', () => {
    fc.assert(
      fc.property(moments, (until) => {
        const lock = { mode: 'GOVERNANCE' as const, until, legalHold: false };
        const form = { ...retentionForm(lock, zone), mode: 'COMPLIANCE' as const };
        expect(retentionChange(lock, form, zone)).toEqual({ kind: 'change', mode: 'COMPLIANCE', until, asks: true });
      }),
      { numRuns: 100 },
    );
  });
});

const lock = { mode: 'GOVERNANCE' as const, until: '2026-12-31T23:30:00.250Z', legalHold: false };

it('shows the time of the user, also where it is on another day than in UTC', () => {
  expect(retentionForm(lock, 'Europe/Berlin').until).toBe('2027-01-01T00:30:00');
  expect(retentionForm(lock, 'America/New_York').until).toBe('2026-12-31T18:30:00');
});

it('takes a new time for one of the zone of the user', () => {
  const form = { mode: 'GOVERNANCE' as const, until: '2027-02-01T12:00', bypass: false };
  expect(retentionChange(lock, form, 'Asia/Tokyo')).toEqual({
    kind: 'change',
    mode: 'GOVERNANCE',
    until: '2027-02-01T03:00:00.000Z',
    asks: false,
  });
});

it.each(['GOVERNANCE', 'COMPLIANCE'] as const)('sends nothing without a time in mode %s', (mode) => {
  expect(retentionChange({ legalHold: false }, { mode, until: '', bypass: false }, 'UTC')).toEqual({
    kind: 'incomplete',
  });
  expect(retentionChange(lock, { mode, until: '', bypass: false }, 'UTC')).toEqual({ kind: 'incomplete' });
});
