import { describe, expect, it } from 'vitest';
import { isPageRefresh } from './page-refresh.ts';

const marked = { 'x-coffer-refresh': '1' };

describe('a refresh of an open page', () => {
  it('is a read of the state that says so', () => {
    expect(isPageRefresh('GET', '/api/health', marked)).toBe(true);
    expect(isPageRefresh('GET', '/API/admin/kms/status/', marked)).toBe(true);
  });

  it.each([
    ['without the header', 'GET', '/api/health', {}],
    ['of another value', 'GET', '/api/health', { 'x-coffer-refresh': 'yes' }],
    ['that changes something', 'POST', '/api/admin/coffer/kms/key/rotate', marked],
    ['of an object', 'GET', '/api/buckets/photos/content', marked],
    ['of identities', 'GET', '/api/users', marked],
    ['of the configuration', 'GET', '/api/admin/get-config', marked],
    ['of an operation of S3', 'GET', '/api/s3/photos', marked],
  ])('is no call %s', (_, method, path, headers) => {
    expect(isPageRefresh(method, path, headers)).toBe(false);
  });
});
