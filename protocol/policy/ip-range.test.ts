import { describe, expect, it } from 'vitest';
import { isInRange, parseRange } from './ip-range.ts';

describe('an address', () => {
  it.each([
    ['10.1.2.3', '10.0.0.0/8', true],
    ['11.1.2.3', '10.0.0.0/8', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.4', '10.1.2.3/32', false],
    ['1.2.3.4', '0.0.0.0/0', true],
    ['::ffff:10.1.2.3', '10.0.0.0/8', true],
    ['::ffff:a01:203', '10.0.0.0/8', true],
    ['0:0:0:0:0:ffff:a01:203', '10.1.2.3', true],
    ['10.1.2.3', '::ffff:a00:0/104', true],
    ['11.1.2.3', '::ffff:a00:0/104', false],
    ['10.1.2.3', '::ffff:0:0/96', true],
    ['10.1.2.3', '::ffff:a01:203', true],
    ['10.1.2.3', '::ffff:a00:0/8', false],
    ['2001:db8:1::5', '2001:db8::/32', true],
    ['2001:db9::5', '2001:db8::/32', false],
    ['::1', '::1', true],
    ['10.1.2.3', '::/0', false],
    ['not an address', '0.0.0.0/0', false],
  ])('%s in %s: %s', (address, range, expected) => {
    expect(isInRange(address, range)).toBe(expected);
  });

  it.each([
    '',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '1::2::3',
    '1:2:3',
    '::g',
    '::/129',
  ])('"%s" is no range', (text) => {
    expect(parseRange(text)).toBeUndefined();
  });
});
