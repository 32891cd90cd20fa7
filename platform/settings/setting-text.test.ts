import { describe, expect, it } from 'vitest';
import { secretText } from './setting-text.ts';

describe('a secret', () => {
  it.each(['password', 'password\n', 'password\r\n', 'password\n\n'])('%j is its line', (text) => {
    expect(secretText(text)).toBe('password');
  });

  it('of several lines is kept', () => {
    const pem = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n';
    expect(secretText(pem)).toBe(pem);
  });

  it.each([
    ['pass\0word', 'has a NUL byte'],
    [Buffer.from('pässword', 'latin1').toString('utf8'), 'has bytes that are not UTF-8'],
    [' password', 'begins or ends with a blank'],
    ['password \n', 'begins or ends with a blank'],
  ])('%j is refused', (text, reason) => {
    expect(() => secretText(text)).toThrow(reason);
  });
});
