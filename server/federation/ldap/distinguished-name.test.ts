import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeDn } from './distinguished-name.ts';

describe('normalizeDn', () => {
  it.each([
    ['uid=ann,ou=people,dc=example,dc=org', 'uid=ann,ou=people,dc=example,dc=org'],
    ['UID=Ann, OU=People , DC=Example;DC=org', 'uid=ann,ou=people,dc=example,dc=org'],
    ['cn=Ann  B.   Lee', 'cn=ann b. lee'],
    ['cn=b+uid=a', 'cn=b+uid=a'],
    ['uid=a + cn=b', 'cn=b+uid=a'],
    [String.raw`cn=Lee\, Ann`, String.raw`cn=lee\, ann`],
    [String.raw`cn=Lee\2C Ann`, String.raw`cn=lee\, ann`],
    ['cn="Lee, Ann"', String.raw`cn=lee\, ann`],
    [String.raw`cn=\C3\84nne`, 'cn=änne'],
    ['cn=ÄNNE', 'cn=änne'],
    ['cn=\u0041\u0308nne', 'cn=änne'],
    [String.raw`cn=\#1`, String.raw`cn=\#1`],
    ['1.3.6.1.4.1.1466.0=#04024869', '1.3.6.1.4.1.1466.0=#04024869'],
    ['cn=', 'cn='],
  ])('%s', (text, expected) => {
    expect(normalizeDn(text)).toBe(expected);
  });

  it.each([
    '',
    ' ',
    'ann',
    'uid=ann,',
    '=ann',
    'uid=ann,,dc=org',
    String.raw`cn=a\x`,
    'cn="a',
    'cn="a"b',
    String.raw`cn=\ff`,
    'cn=\ud800',
  ])('takes %j for none', (text) => {
    expect(normalizeDn(text)).toBeUndefined();
  });

  it('leaves as it is what it made, and never fails', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string().map((value) => `cn=${value}`),
      fc.stringMatching(/^cn=[ ,;+="\\#a-cA-C0-9]*$/),
    );
    fc.assert(
      fc.property(text, (given) => {
        const once = normalizeDn(given);
        if (once !== undefined) expect(normalizeDn(once)).toBe(once);
      }),
    );
  });
});
