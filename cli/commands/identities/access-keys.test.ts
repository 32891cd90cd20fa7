import { describe, expect, it } from 'vitest';
import { expiration } from './access-keys.ts';

const now = new Date('2030-01-01T10:00:00.500Z');

describe('the end of an access key', () => {
  it.each([
    [{}, undefined],
    [{ expiry: '2030-01-31' }, '2030-01-31T00:00:00Z'],
    [{ expiry: '2030-01-31T08:30' }, '2030-01-31T08:30:00Z'],
    [{ expiry: '2030-01-31T08:30:15+02:00' }, '2030-01-31T06:30:15Z'],
    [{ expiryDuration: '24h' }, '2030-01-02T10:00:00Z'],
    [{ expiryDuration: '1d12h' }, '2030-01-02T22:00:00Z'],
  ])('by %j is %s', (options, expected) => {
    expect(expiration(options, now)).toBe(expected);
  });

  it.each([
    [{ expiry: '31.1.2030' }, 'Invalid --expiry `31.1.2030`'],
    [{ expiry: '2030-13-01' }, 'Invalid --expiry `2030-13-01`'],
    [{ expiryDuration: 'soon' }, 'Invalid --expiry-duration `soon`'],
    [{ expiry: '2030-01-31', expiryDuration: '1h' }, 'not both'],
  ])('is not said by %j', (options, message) => {
    expect(() => expiration(options, now)).toThrow(message);
  });
});
