import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { zones } from '../../../test/support/time-zones.ts';
import { accessKeyChange, accessKeyForm, emptyKeyForm, expiryOf } from './access-key-change.ts';

const moments = fc
  .date({ min: new Date('2026-01-01T00:00:00Z'), max: new Date('2125-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const policy = { document: '{"Version":"2008-10-17","Statement":[]}', content: [] };
const known = { name: 'backup', description: 'nightly', expires: '2026-12-31T23:30:00.250Z', policy };

describe.each(zones)('in the zone %s', (zone) => {
  it('Save without a change sends nothing', () => {
    fc.assert(
      fc.property(fc.option(moments, { nil: undefined }), fc.boolean(), (expires, narrow) => {
        const key = { ...known, expires, policy: narrow ? policy : undefined };
        expect(accessKeyChange(key, accessKeyForm(key, zone), zone)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });

  it('another name leaves the expiration alone', () => {
    expect(accessKeyChange(known, { ...accessKeyForm(known, zone), name: 'new' }, zone)).toEqual({ name: 'new' });
  });
});

it('sends the moment that a time is in the zone of the user', () => {
  const form = { ...accessKeyForm(known, 'Asia/Tokyo'), expires: '2027-02-01T12:00' };
  expect(accessKeyChange(known, form, 'Asia/Tokyo')).toEqual({ expires: '2027-02-01T03:00:00.000Z' });
});

it('removes what the user empties', () => {
  const form = { name: '', description: '', expires: '', narrow: false, policy: '' };
  expect(accessKeyChange(known, form, 'UTC')).toEqual({ name: null, description: null, expires: null, policy: null });
});

it('makes no key that lasts of a text that is no time', () => {
  expect(expiryOf({ ...emptyKeyForm, expires: '2027-99-01T00:00' }, 'UTC')).toBe('2027-99-01T00:00');
  expect(expiryOf(emptyKeyForm, 'UTC')).toBeUndefined();
});
