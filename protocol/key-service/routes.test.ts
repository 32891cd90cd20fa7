import { describe, expect, it } from 'vitest';
import { findRoute } from './routes.ts';

describe('findRoute', () => {
  it.each([
    ['/v1/key/create/my-key', 'key-create', 'my-key'],
    ['/v1/key/create', 'key-create', ''],
    ['/v1/key/create/', 'key-create', ''],
    ['/v1/key/bulk/decrypt/k', 'key-bulk-decrypt', 'k'],
    ['/v1/key/list', 'key-list', ''],
    ['/v1/status', 'status', ''],
    ['/v1/key/create/a/b', 'key-create', 'a/b'],
  ])('%s is %s of %j', (path, api, argument) => {
    const found = findRoute(path);
    expect([found?.route.api, found?.argument]).toEqual([api, argument]);
  });

  it.each(['/', '/v1/key/createx', '/v1/status/', '/v1/secret/create/x', '/v2/key/create/x'])('knows no %s', (path) => {
    expect(findRoute(path)).toBeUndefined();
  });
});
