import { describe, expect, it } from 'vitest';
import { readChallenge } from './challenge.ts';

const header = (resource: string) => `Bearer authorization="https://login.windows.net/tenant", resource="${resource}"`;

describe('the challenge of a key vault', () => {
  it('says whose token is wanted', () => {
    expect(readChallenge(header('https://vault.azure.net'), 'https://keys.vault.azure.net')).toEqual({
      authority: 'https://login.windows.net/tenant',
      scope: 'https://vault.azure.net/.default',
    });
  });

  it.each([
    ['https://vault.azure.cn', 'https://keys.vault.azure.cn'],
    ['https://vault.usgovcloudapi.net', 'https://keys.vault.usgovcloudapi.net'],
  ])('is taken from each cloud of Azure: %s', (resource, endpoint) => {
    expect(readChallenge(header(resource), endpoint).scope).toBe(`${resource}/.default`);
  });

  it.each([
    ['https://management.azure.com', 'https://keys.vault.azure.net'],
    ['https://vault.azure.net', 'https://keys.example.com'],
    ['https://azure.net.example.com', 'https://keys.vault.azure.net'],
    // A domain that only ends in the same letters.
    ['https://t.azure.net', 'https://keys.vault.azure.net'],
  ])('for a token of %s is refused to %s', (resource, endpoint) => {
    expect(() => readChallenge(header(resource), endpoint)).toThrow('not its own domain');
  });

  it.each([null, '', 'Basic realm="x"', 'Bearer authorization="x"', 'Bearer authorization="x", resource="y"'])(
    'that is none says that the address is wrong: %s',
    (text) => {
      expect(() => readChallenge(text, 'https://keys.vault.azure.net')).toThrow('is it the address of a key vault?');
    },
  );
});
