import { describe, expect, it } from 'vitest';
import { both, holds, type Actual } from '../../test/support/policy/policy-cases.ts';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_IPAddress */
describe('address operators', () => {
  it.each<[string, unknown, Actual, boolean]>([
    ['IpAddress', '203.0.113.0/24', '203.0.113.0', true],
    ['IpAddress', '203.0.113.0/24', '203.0.113.255', true],
    ['IpAddress', '203.0.113.0/24', '203.0.114.0', false],
    ['IpAddress', '203.0.113.7', '203.0.113.7', true],
    ['IpAddress', '203.0.113.7', '203.0.113.8', false],
    ['IpAddress', '203.0.113.7/32', '203.0.113.7', true],
    // Bits behind the prefix do not count.
    ['IpAddress', '203.0.113.99/24', '203.0.113.1', true],
    ['IpAddress', '10.0.0.0/9', '10.127.255.255', true],
    ['IpAddress', '10.0.0.0/9', '10.128.0.0', false],
    ['IpAddress', '10.0.0.0/17', '10.0.127.1', true],
    ['IpAddress', '10.0.0.0/17', '10.0.128.1', false],
    ['IpAddress', '0.0.0.0/0', '198.51.100.1', true],
    ['IpAddress', '0.0.0.0/0', '2001:db8::1', false],
    ['IpAddress', '::/0', '2001:db8::1', true],
    ['IpAddress', '2001:DB8:1234:5678::/64', '2001:db8:1234:5678:9::1', true],
    ['IpAddress', '2001:DB8:1234:5678::/64', '2001:db8:1234:5679::1', false],
    ['IpAddress', '2001:db8::/33', '2001:db8:7fff::1', true],
    ['IpAddress', '2001:db8::/33', '2001:db8:8000::1', false],
    ['IpAddress', ['203.0.113.0/24', '2001:DB8::/32'], '2001:db8::9', true],
    ['IpAddress', '10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['IpAddress', 'fe80::/10', 'fe80::1%eth0', true],
    ['IpAddress', '10.0.0.0/8', undefined, false],
    ['NotIpAddress', '203.0.113.0/24', '203.0.113.9', false],
    ['NotIpAddress', '203.0.113.0/24', '198.51.100.1', true],
    ['NotIpAddress', ['10.0.0.0/8', '192.168.0.0/16'], '192.168.1.1', false],
    ['NotIpAddress', ['10.0.0.0/8', '192.168.0.0/16'], '172.16.0.1', true],
    ['NotIpAddress', '10.0.0.0/8', '2001:db8::1', true],
    ['NotIpAddress', '10.0.0.0/8', undefined, true],
  ])('%s %j on %j: %s', (operator, expected, actual, outcome) => {
    expect(holds(operator, expected, actual)).toEqual(both(outcome));
  });

  it.each(['unix', '', '10.0.0', '010.0.0.0.1', '10.0.0.1:443', '[::1]', '10.0.0.1, 198.51.100.1'])(
    'on "%s" of a request never allow, and deny',
    (actual) => {
      expect(holds('IpAddress', '10.0.0.0/8', actual)).toEqual({ allow: false, deny: true });
      expect(holds('NotIpAddress', '10.0.0.0/8', actual)).toEqual({ allow: false, deny: true });
    },
  );

  it.each(['10.0.0.0/33', '10.0.0', '10.0.0.*', '::/129', 'localhost', '', '${aws:SourceIp}'])(
    'refuse the value "%s"',
    (value) => {
      expect(() => holds('IpAddress', value, '10.0.0.1')).toThrow(expect.objectContaining({ code: 'MalformedPolicy' }));
    },
  );
});
