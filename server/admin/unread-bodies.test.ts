import { describe, expect, it } from 'vitest';
import { routes } from './admin-handler.ts';
import { adminTest } from '../../test/support/admin/admin.ts';
import { samplePath } from '../../test/support/admin/sample-path.ts';

const calls = routes.flatMap(({ method, path }) => method.split('|').map((one) => [one, samplePath(path)] as const));

describe('a caller who may do nothing', () => {
  it.each(calls)('is refused %s %s before its body is read', async (method, path) => {
    const test = await adminTest();
    await test.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    const Statement = [{ Effect: 'Deny', Action: '*', Resource: '*' }];
    await test.identities.putPolicy('nothing', JSON.stringify({ Version: '2012-10-17', Statement }));
    await test.identities.attach({ kind: 'user', name: 'ann' }, ['nothing']);
    expect(routes.some((route) => route.path.test(path))).toBe(true);
    const { status, bytesRead } = await test.call('ann', method, `${path}?key-id=k&accessKey=root`, {
      plain: 'x'.repeat(1_000),
    });
    expect({ status, bytesRead }).toEqual({ status: path.endsWith('/accountinfo') ? 200 : 403, bytesRead: 0 });
  });
});
