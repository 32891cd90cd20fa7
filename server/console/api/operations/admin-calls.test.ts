import { describe, expect, it } from 'vitest';
import { adminPathOf } from './admin-calls.ts';

describe('calls of the admin API by a session', () => {
  it.each([
    ['/info', '/minio/admin/v4/info'],
    ['/kms/key/list', '/minio/admin/v4/kms/key/list'],
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
  ])('does not find %j', (path) => expect(adminPathOf(path)).toBeUndefined());
});
