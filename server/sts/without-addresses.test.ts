import { describe, expect, it } from 'vitest';
import { withoutAddresses } from './without-addresses.ts';

describe('an error of STS for a caller who is still unknown', () => {
  it.each([
    ['issuer "https://idp.internal:8443/realms/a?k=v";', 'issuer "[address]";'],
    ['cannot reach ldaps://ad.corp.example:636', 'cannot reach [address]'],
    ['connect ECONNREFUSED 10.1.2.3:443', 'connect ECONNREFUSED [address]'],
    ['getaddrinfo ENOTFOUND idp.internal', 'getaddrinfo ENOTFOUND [address]'],
  ])('has no address: %s', (message, clean) => {
    expect(withoutAddresses(message)).toBe(`${clean} The log of the server names the address.`);
  });

  it.each(['There is no OpenID provider MAIN.', 'Version must be 2011-06-15, not "1".', 'arn:minio:iam:::role/a'])(
    'is as it was without one: %s',
    (message) => {
      expect(withoutAddresses(message)).toBe(message);
    },
  );
});
