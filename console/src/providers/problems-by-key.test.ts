import { describe, expect, it } from 'vitest';
import { problemsByKey } from './problems-by-key.ts';

const keys = ['config_url', 'client_id', 'redirect_uri', 'redirect_uri_dynamic', 'claim_name', 'role_policy'];

describe('problemsByKey', () => {
  it('assigns each error to the key that it begins with', () => {
    const error = new Error('config_url is "x": it must be an address; redirect_uri_dynamic must be on or off.');
    expect([...problemsByKey(error, keys).byKey.keys()]).toEqual(['config_url', 'redirect_uri_dynamic']);
    expect(problemsByKey(error, keys).other).toBeUndefined();
  });

  it('keeps errors of two keys or of none', () => {
    const two = new Error('claim_name and role_policy exclude each other: by a role all have the same');
    expect(problemsByKey(two, keys)).toEqual({ byKey: new Map(), other: two });
    const none = new Error('The provider cannot be used: it does not answer');
    expect(problemsByKey(none, keys)).toEqual({ byKey: new Map(), other: none });
  });

  it('is empty without an error', () => {
    expect(problemsByKey(null, keys)).toEqual({ byKey: new Map(), other: undefined });
  });
});
