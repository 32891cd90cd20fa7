import { describe, expect, it } from 'vitest';
import { createSourceFinder } from './source-address.ts';

const trusted = ['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.7'];
const find = createSourceFinder({ trusted, header: 'x-forwarded-for' });
const findForwarded = createSourceFinder({ trusted, header: 'forwarded' });
const via = (peer: string, header: string) => find(peer, { 'x-forwarded-for': header }).address;
const forwarded = (peer: string, header: string) => findForwarded(peer, { forwarded: header }).address;

describe('the source of a request', () => {
  it.each([
    ['a stranger who names another', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a trusted proxy', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a trusted proxy on an IPv6 socket', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a single trusted address', '192.0.2.7', '198.51.100.1', '198.51.100.1'],
    ['a client who wrote a hop itself', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['a client who wrote a trusted hop itself', '10.1.2.3', '10.9.9.9, 198.51.100.1', '198.51.100.1'],
    ['two trusted proxies', '10.1.2.3', '1.1.1.1, 198.51.100.1, 10.4.4.4', '198.51.100.1'],
    ['trusted proxies alone', '10.1.2.3', '10.5.5.5, 10.4.4.4', '10.5.5.5'],
    ['a hop that is no address', '10.1.2.3', '198.51.100.1, unknown, 10.4.4.4', '10.4.4.4'],
    ['an empty header', '10.1.2.3', '', '10.1.2.3'],
    ['a hop with a port', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['a hop of IPv6', '2001:db8:1::5', '2001:db8:2::9', '2001:db8:2::9'],
    ['a hop of IPv6 with a port', '2001:db8:1::5', '[2001:db8:2::9]:443', '2001:db8:2::9'],
    ['a mapped hop', '10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['a mapped hop in hexadecimal', '10.1.2.3', '::ffff:c633:6401', '198.51.100.1'],
    ['a mapped hop in capitals', '10.1.2.3', '::FFFF:198.51.100.1', '198.51.100.1'],
    ['a mapped hop in full', '10.1.2.3', '[0:0:0:0:0:ffff:c633:6401]:443', '198.51.100.1'],
    ['a trusted mapped hop in hexadecimal', '10.1.2.3', '198.51.100.1, ::ffff:a04:404', '198.51.100.1'],
    ['a trusted proxy on an IPv6 socket in hexadecimal', '::ffff:a01:203', '198.51.100.1', '198.51.100.1'],
  ])('is right behind %s', (_, peer, header, expected) => {
    expect(via(peer, header)).toBe(expected);
  });

  it.each([
    ['for=198.51.100.1;proto=https', '198.51.100.1'],
    ['for=1.1.1.1, for=198.51.100.1;by=10.1.2.3', '198.51.100.1'],
    ['for="[2001:db8:2::9]:443"', '2001:db8:2::9'],
    ['For = "198.51.100.1:80"', '198.51.100.1'],
    ['for=1.1.1.1;x=", for=198.51.100.1', '198.51.100.1'],
    ['for=_hidden', '10.1.2.3'],
    ['proto=https', '10.1.2.3'],
  ])('is read from Forwarded: %s', (header, expected) => {
    expect(forwarded('10.1.2.3', header)).toBe(expected);
    expect(forwarded('203.0.113.9', header)).toBe('203.0.113.9');
  });

  it('is never read from the header that the proxies do not set', () => {
    expect(find('10.1.2.3', { forwarded: 'for=1.1.1.1', 'x-forwarded-for': '198.51.100.1' }).address).toBe(
      '198.51.100.1',
    );
    expect(findForwarded('10.1.2.3', { forwarded: 'for=198.51.100.1', 'x-forwarded-for': '1.1.1.1' }).address).toBe(
      '198.51.100.1',
    );
  });

  it('is the peer where no proxy is trusted, whatever it sends', () => {
    const nobody = createSourceFinder();
    expect(nobody('10.1.2.3', { 'x-forwarded-for': '1.1.1.1' })).toEqual({
      address: '10.1.2.3',
      encrypted: false,
    });
    expect(nobody('10.1.2.3', { 'x-forwarded-for': '1.1.1.1' })).toEqual(nobody('10.1.2.3', {}));
  });

  it('is encrypted where a trusted proxy says so', () => {
    expect(find('10.1.2.3', { 'x-forwarded-proto': 'https' }).encrypted).toBe(true);
    expect(find('10.1.2.3', { 'x-forwarded-proto': 'https, http' }).encrypted).toBe(false);
    expect(find('203.0.113.9', { 'x-forwarded-proto': 'https' }).encrypted).toBe(false);
  });

  it('is found in a header of any length', () => {
    expect(via('10.1.2.3', `${'10.2.2.2,'.repeat(5_000)}10.3.3.3`)).toBe('10.2.2.2');
  });
});
