import { describe, expect, it } from 'vitest';
import { adminPathOf } from './admin-calls.ts';

describe('calls of the admin API by a session', () => {
  it.each([
    ['/info', '/minio/admin/v4/info'],
    ['/kms/key/list', '/minio/admin/v4/kms/key/list'],
    ['/tier', '/minio/admin/v4/tier'],
    ['/tier/COLD-1', '/minio/admin/v4/tier/COLD-1'],
    ['/coffer/scrub', '/minio/admin/coffer/v1/scrub'],
  ])('finds %s', (path, found) => expect(adminPathOf(path)).toBe(found));
  it.each([
    '',
    '/',
    '/add-user',
    '/set-user-status',
    '/update-service-account',
    '/coffer/',
    '/../info',
    '/info/',
    '/INFO',
    '/__proto__',
    '/tier/',
    '/tier/..',
    '/tier/A/B',
    '/tier/%2e%2e',
  ])('does not find %j', (path) => expect(adminPathOf(path)).toBeUndefined());
});
