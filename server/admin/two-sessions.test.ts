import { beforeEach, describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';
import { configurationsTest } from '../../test/support/admin/configurations.ts';
import { testLayer } from '../../test/support/objects/test-layer.ts';

/** Two administrators who read before either of them writes: `root`, and a user with all rights. */
const both = ['root', 'admin'] as const;
let test: Awaited<ReturnType<typeof adminTest>>;

beforeEach(async () => {
  const { layer } = testLayer();
  await layer.createBucket('b', { location: '' });
  test = await adminTest({ services: { buckets: layer } });
  for (const accessKey of ['ann', 'bob', 'carl', 'admin']) {
    await test.identities.putUser({ accessKey, secretKey: `${accessKey}-password` });
  }
  await test.identities.attach({ kind: 'user', name: 'admin' }, ['consoleAdmin']);
});

const ann = { kind: 'user', name: 'ann' } as const;
const succeed = async (calls: readonly Promise<{ readonly status: number }>[]) => {
  for (const { status } of await Promise.all(calls)) expect(status).toBeLessThan(300);
};

const quota = (size: number) => ({ plain: JSON.stringify({ quota: size, quotatype: 'hard' }) });

describe('two administrators at the same time keep the changes of each other', () => {
  it('of the policies of a user: attach and detach', async () => {
    await test.identities.attach(ann, ['readonly']);
    const change = (by: string, how: string, policy: string) =>
      test.call(by, 'POST', `idp/builtin/policy/${how}`, { sealed: { policies: [policy], user: 'ann' } });
    await succeed([
      change('root', 'attach', 'diagnostics'),
      change('admin', 'attach', 'writeonly'),
      change('root', 'detach', 'readonly'),
    ]);
    expect((await test.identities.attached(ann)).toSorted()).toEqual(['diagnostics', 'writeonly']);
  });

  it('of the members of a group', async () => {
    await test.identities.addMembers('staff', ['ann']);
    const change = (by: string, members: readonly string[], isRemove: boolean) =>
      test.call(by, 'PUT', 'update-group-members', { plain: JSON.stringify({ group: 'staff', members, isRemove }) });
    await succeed([change('root', ['bob'], false), change('admin', ['carl'], false), change('admin', ['ann'], true)]);
    expect((await test.identities.group('staff'))?.members.toSorted()).toEqual(['bob', 'carl']);
  });

  it('of a user: its status, its secret key and its policies', async () => {
    await succeed([
      test.call('root', 'PUT', 'set-user-status?accessKey=ann&status=disabled'),
      test.call('admin', 'PUT', 'add-user?accessKey=ann', { sealed: { secretKey: 'another-password' } }),
    ]);
    expect(await test.identities.user('ann')).toMatchObject({ status: 'disabled', secretKey: 'another-password' });
  });

  it('of an access key', async () => {
    const policy = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Deny', Action: 's3:*', Resource: 'arn:aws:s3:::*' }],
    };
    await test.identities.createServiceAccount({ subject: ann, accessKey: 'robot', secretKey: 'robot-password' });
    const update = (by: string, sealed: object) =>
      test.call(by, 'POST', 'update-service-account?accessKey=robot', { sealed });
    await succeed([
      update('root', { newPolicy: policy }),
      update('admin', { newDescription: 'of the other one' }),
      update('root', { newName: 'name' }),
      update('admin', { newStatus: 'off' }),
    ]);
    const { policy: stored = '', ...found } = (await test.identities.serviceAccount('robot')) ?? {};
    expect(found).toMatchObject({ description: 'of the other one', name: 'name', status: 'disabled' });
    expect(stored).toContain('Deny');
  });

  it('of an identity provider, by `idp` and by `config`', async () => {
    const call = await configurationsTest();
    const url = 'https://idp/realms/a/.well-known/openid-configuration';
    await call('PUT', 'idp-config/openid/okta', `config_url=${url} client_id=a client_secret=hunter2`);
    await succeed([
      call('POST', 'idp-config/openid/okta', 'display_name=Okta'),
      call('PUT', 'set-config-kv', 'identity_openid:okta scopes=openid,email'),
      call('POST', 'idp-config/openid/okta', 'claim_name=role'),
    ]);
    const { text } = await call('GET', 'get-config-kv?key=identity_openid:okta');
    for (const part of [
      'display_name=Okta',
      'openid,email',
      'claim_name=role',
      `config_url=${url}`,
      'client_secret=',
    ]) {
      expect(text).toContain(part);
    }
  });
});

describe('a call that sets a whole value', () => {
  it.each(both)('sets what %s sent last: the quota of a bucket, which is one number', async (by) => {
    await test.call(by === 'root' ? 'admin' : 'root', 'PUT', 'set-bucket-quota?bucket=b', quota(1_000));
    await test.call(by, 'PUT', 'set-bucket-quota?bucket=b', quota(2_000));
    expect((await test.call('root', 'GET', 'get-bucket-quota?bucket=b')).value).toMatchObject({ quota: 2_000 });
  });
});
