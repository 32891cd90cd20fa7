import { describe, expect, it } from 'vitest';
import { activeUrl } from './standby.ts';

const endpoint = 'https://vault.example.com:8200';
const requested = `${endpoint}/v1/kv/data/a?version=1`;

describe('the redirect of a standby', () => {
  it('is followed to the active vault with the same request', () => {
    const active = 'https://vault-1.example.com:8200/v1/kv/data/a?version=1';
    expect(activeUrl(endpoint, requested, active)).toBe(active);
  });

  it.each([
    ['without TLS', 'http://vault-1.example.com:8200/v1/kv/data/a?version=1'],
    ['to another path', 'https://vault-1.example.com:8200/v1/kv/data/b?version=1'],
    ['to another query', 'https://vault-1.example.com:8200/v1/kv/data/a'],
    ['with a user', 'https://me@vault-1.example.com:8200/v1/kv/data/a?version=1'],
    ['to no address', '/v1/kv/data/a?version=1'],
    ['to nowhere', ''],
  ])('is not followed %s', (_, location) => {
    expect(activeUrl(endpoint, requested, location)).toBeUndefined();
  });
});
