import * as fc from 'fast-check';
import { EqualityFilter, FilterParser } from 'ldapts';
import { describe, expect, it } from 'vitest';
import { fillFilter, nameAttributes, nameIn } from './ldap-searches.ts';

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

describe('the name of a user', () => {
  it.each([
    ['(uid=%s)', ['uid']],
    ['(&(objectClass=person)(|(uid=%s)(mail=%s)))', ['uid', 'mail']],
    ['(userPrincipalName=%s@corp.example)', ['userPrincipalName']],
    ['(memberOf:1.2.840.113556.1.4.1941:=%s)', []],
    ['(&(cn=*)(uid=x))', []],
  ])('is in the attributes that %s compares with it', (filter, attributes) => {
    expect(nameAttributes(filter)).toEqual(attributes);
  });

  it.each([
    ['(uid=%s)', { uid: 'ann' }, 'ANN', 'ann'],
    ['(uid=%s)', { uid: ['bob', 'Ann'] }, ' a\u00ADnn ', 'Ann'],
    ['(uid=%s)', { UID: 'ann' }, 'ａｎｎ', 'ann'],
    ['(|(uid=%s)(mail=%s))', { uid: 'u1', mail: 'Ann@Example' }, 'ann@example', 'Ann@Example'],
    ['(userPrincipalName=%s@corp)', { userPrincipalName: 'Ann@CORP' }, 'ann', 'Ann'],
    ['(uid=%s)', { uid: Buffer.from('Ann') }, 'ann', 'Ann'],
    // The directory may compare in ways of its own.
    ['(uid=%s)', { uid: 'other' }, 'ann', 'ann'],
    ['(uid=%s)', {}, 'ann', 'ann'],
  ])('is written as the directory has it: %s %j for %j', (filter, entry, typed, name) => {
    expect(nameIn({ dn: 'cn=x', ...entry }, filter, typed)).toBe(name);
  });
});
