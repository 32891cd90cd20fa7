import { beforeEach, describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';

let test: Awaited<ReturnType<typeof adminTest>>;

beforeEach(async () => {
  test = await adminTest();
  for (const accessKey of ['ann', 'bob', 'eve']) {
    await test.identities.putUser({ accessKey, secretKey: `${accessKey}-password` });
  }
});

const change = (group: string, members: readonly string[] | null, isRemove: boolean) =>
  test.call('root', 'PUT', 'update-group-members', {
    plain: JSON.stringify({ group, members, groupStatus: 'enabled', isRemove }),
  });

describe('groups', () => {
  it('are made with members, shown and listed', async () => {
    expect((await change('staff', ['ann', 'bob'], false)).status).toBe(200);
    await test.identities.attach({ kind: 'group', name: 'staff' }, ['readonly', 'diagnostics']);
    expect((await test.call('root', 'GET', 'group?group=staff')).value).toEqual({
      name: 'staff',
      status: 'enabled',
      members: ['ann', 'bob'],
      policy: 'readonly,diagnostics',
      updatedAt: '2026-01-01T00:00:00.000Z',
    });
    await change('empty', null, false);
    expect((await test.call('root', 'GET', 'groups')).value).toEqual(['empty', 'staff']);
  });

  it('are enabled and disabled', async () => {
    await change('staff', ['ann'], false);
    for (const status of ['disabled', 'enabled']) {
      await test.call('root', 'PUT', `set-group-status?group=staff&status=${status}`);
      expect((await test.call('root', 'GET', 'group?group=staff')).value).toMatchObject({ status });
    }
  });

  it('are made disabled by minio-java, and stay so when mc adds a member', async () => {
    const update = { group: 'staff', members: ['ann'], groupStatus: 'disabled', isRemove: false };
    const send = (remove: boolean) =>
      test.call('root', 'PUT', 'update-group-members', { plain: JSON.stringify({ ...update, remove }) });
    expect(await send(true)).toMatchObject({ status: 400, value: { Code: 'XMinioAdminConfigBadJSON' } });
    expect((await send(false)).status).toBe(200);
    await change('staff', ['bob'], false);
    expect(await test.identities.group('staff')).toMatchObject({ status: 'disabled', members: ['ann', 'bob'] });
  });

  it('lose members, also unknown ones, and are removed when none is left', async () => {
    await change('staff', ['ann', 'bob'], false);
    expect((await change('staff', ['ann', 'eve'], true)).status).toBe(200);
    expect((await test.identities.group('staff'))?.members).toEqual(['bob']);
    expect(await change('staff', [], true)).toMatchObject({
      status: 400,
      value: { Code: 'XMinioAdminGroupNotEmpty', Message: 'The group staff has 1 members; remove them first.' },
    });
    await change('staff', ['bob'], true);
    expect((await change('staff', [], true)).status).toBe(200);
    expect(await test.identities.group('staff')).toBeUndefined();
  });

  it.each([
    ['nobody as a member', 'staff', ['nobody'], false, 404, 'XMinioAdminNoSuchUser'],
    ['to remove nobody', 'staff', ['nobody'], true, 404, 'XMinioAdminNoSuchUser'],
    ['to remove from what is not there', 'nix', ['ann'], true, 404, 'XMinioAdminNoSuchGroup'],
    ['to remove what is not there', 'nix', [], true, 404, 'XMinioAdminNoSuchGroup'],
    ['a name with a comma', 'a,b', ['ann'], false, 400, 'XCofferInvalidRequest'],
  ])('refuse %s', async (_, group, members, isRemove, status, code) => {
    await change('staff', ['ann'], false);
    expect(await change(group, members, isRemove)).toMatchObject({ status, value: { Code: code } });
  });

  it('say that there is none', async () => {
    const none = { status: 404, value: { Code: 'XMinioAdminNoSuchGroup' } };
    expect(await test.call('root', 'GET', 'group?group=nix')).toMatchObject(none);
    expect(await test.call('root', 'PUT', 'set-group-status?group=nix&status=enabled')).toMatchObject(none);
  });

  it('are closed to people without the right', async () => {
    await change('staff', ['ann'], false);
    for (const [method, target] of [
      ['GET', 'group?group=staff'],
      ['GET', 'groups'],
      ['PUT', 'set-group-status?group=staff&status=disabled'],
      ['PUT', 'update-group-members'],
    ] as const) {
      expect((await test.call('ann', method, target, { plain: '{}' })).status, target).toBe(403);
    }
  });
});
