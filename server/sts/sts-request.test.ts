import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionRequest, expirationOf, maxDuration, parseDuration, minDuration } from './sts-request.ts';

describe('parseDuration', () => {
  it('takes 900 seconds to a year', () => {
    expect([parseDuration('900'), parseDuration('31536000')]).toEqual([900, 31_536_000]);
  });

  it('takes an empty or absent one as none', () => {
    expect([parseDuration(''), parseDuration(undefined)]).toEqual([undefined, undefined]);
  });

  it.each(['899', '31536001', '0', '-900', '900.5', '1e3', '9h', ' 900', '0x384', '9'.repeat(400)])(
    'refuses "%s", and shows the bounds',
    (text) => {
      expect(() => parseDuration(text)).toThrow(/from 900 to 31536000/);
    },
  );
});

describe('sessionRequest', () => {
  it('refuses an empty policy, which is not an absent one', () => {
    const none = { bodyHash: '', optional: () => undefined, required: () => '' };
    expect(() => sessionRequest({ ...none, names: ['Policy'] })).toThrow('Policy is empty');
    expect(sessionRequest({ ...none, names: [] })).toEqual({});
  });
});

describe('expirationOf', () => {
  const now = new Date('2026-01-01T00:00:00Z');

  it('is that of the token without a duration', () => {
    const token = new Date('2026-01-01T00:05:00Z');
    expect(expirationOf(token, undefined, now)).toEqual(token);
  });

  it('is sooner where that is asked for', () => {
    expect(expirationOf(new Date('2026-01-02T00:00:00Z'), 900, now)).toEqual(new Date('2026-01-01T00:15:00Z'));
  });

  it('is never later than the token, nor than what was asked for', () => {
    const duration = fc.option(fc.integer({ min: minDuration, max: maxDuration }), { nil: undefined });
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), duration, (token, seconds) => {
        const ends = expirationOf(token, seconds, now).getTime();
        expect(ends).toBeLessThanOrEqual(token.getTime());
        expect(ends).toBeLessThanOrEqual(now.getTime() + (seconds ?? maxDuration) * 1_000);
      }),
    );
  });
});
