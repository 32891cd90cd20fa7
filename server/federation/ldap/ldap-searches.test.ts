import * as fc from 'fast-check';
import { EqualityFilter, FilterParser } from 'ldapts';
import { describe, expect, it } from 'vitest';
import { fillFilter } from './ldap-searches.ts';

describe('fillFilter', () => {
  it('puts name and DN in', () => {
    const filter = fillFilter('(&(member=%d)(uid=%s))', { name: 'ann', dn: 'uid=ann,dc=org' });
    expect(filter).toBe('(&(member=uid=ann,dc=org)(uid=ann))');
  });

  it.each([
    ['*', String.raw`(uid=\2a)`],
    ['ann)(objectClass=*', String.raw`(uid=ann\29\28objectClass=\2a)`],
    ['*)(|(uid=*', String.raw`(uid=\2a\29\28|\28uid=\2a)`],
    [String.raw`a\2a`, String.raw`(uid=a\5c2a)`],
    ['a\0b', String.raw`(uid=a\00b)`],
    ['$&%s%d', '(uid=$&%s%d)'],
  ])('keeps %j a value', (name, expected) => {
    expect(fillFilter('(uid=%s)', { name })).toBe(expected);
  });

  it('is one comparison with exactly the name, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        const parsed = FilterParser.parseString(fillFilter('(uid=%s)', { name }));
        expect(parsed).toBeInstanceOf(EqualityFilter);
        const { attribute, value } = parsed as EqualityFilter;
        expect([attribute, value.toString()]).toEqual(['uid', name]);
      }),
      { numRuns: 500 },
    );
  });
});
