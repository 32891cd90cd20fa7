import { beforeEach, describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';

let test: Awaited<ReturnType<typeof adminTest>>;
const updatedAt = '2026-01-01T00:00:00.000Z';

beforeEach(async () => {
  test = await adminTest();
  for (const name of ['ann', 'bob', 'admin']) {
    await test.identities.putUser({ accessKey: name, secretKey: `${name}-password` });
  }
  await test.identities.attach({ kind: 'user', name: 'admin' }, ['consoleAdmin']);
});

describe('users', () => {
  it('are listed with policies, groups and status', async () => {
    await test.identities.attach({ kind: 'user', name: 'ann' }, ['readonly', 'diagnostics']);
    await test.identities.addMembers('staff', ['ann']);
    await test.identities.putUser({ accessKey: 'bob', status: 'disabled' });
    const { status, value } = await test.call('root', 'GET', 'list-users');
    expect(status).toBe(200);
    expect(value).toEqual({
      admin: { policyName: 'consoleAdmin', status: 'enabled', updatedAt },
      ann: { policyName: 'readonly,diagnostics', status: 'enabled', memberOf: ['staff'], updatedAt },
      bob: { status: 'disabled', updatedAt },
    });
    expect((await test.call('root', 'GET', 'user-info?accessKey=bob')).value).toEqual({
      status: 'disabled',
      updatedAt,
    });
  });

  it('are the same for the newest clients, who say v4', async () => {
    const [third, fourth] = [3, 4].map((version) => test.call('root', 'GET', `/minio/admin/v${version}/list-users`));
    expect(await fourth).toMatchObject({ status: 200, value: (await third)?.value as object });
  });

  it('are listed by what they may do with a bucket', async () => {
    await test.identities.attach({ kind: 'user', name: 'ann' }, ['writeonly']);
    const { value } = await test.call('root', 'GET', 'list-users?bucket=b');
    expect(Object.keys(value as object)).toEqual(['admin', 'ann']);
  });

  it('are made with a status and policies, and keep the secret key that is not given', async () => {
    const sealed = { secretKey: 'carl-password', status: 'disabled', policy: 'readonly' };
    expect((await test.call('root', 'PUT', 'add-user?accessKey=carl', { sealed })).status).toBe(200);
    expect(await test.identities.user('carl')).toMatchObject({ secretKey: 'carl-password', status: 'disabled' });
    expect(await test.identities.attached({ kind: 'user', name: 'carl' })).toEqual(['readonly']);
    await test.call('root', 'PUT', 'add-user?accessKey=carl', { sealed: { status: 'enabled' } });
    expect(await test.identities.user('carl')).toMatchObject({ secretKey: 'carl-password', status: 'enabled' });
  });

  it('are made by minio-java, which names all that it knows of a user', async () => {
    const sealed = { secretKey: 'carl-password', status: 'enabled', policyName: null, memberOf: null };
    expect((await test.call('root', 'PUT', 'add-user?accessKey=carl', { sealed })).status).toBe(200);
    const named = { ...sealed, policyName: 'readonly', memberOf: [] };
    expect((await test.call('root', 'PUT', 'add-user?accessKey=carl', { sealed: named })).status).toBe(200);
    expect(await test.identities.attached({ kind: 'user', name: 'carl' })).toEqual(['readonly']);
  });

  it.each([
    ['an access key that is too short', 'x', { secretKey: 'long-enough' }, 400, 'XMinioAdminInvalidAccessKey'],
    ['a secret key that is too short', 'carl', { secretKey: 'short' }, 400, 'XMinioAdminInvalidSecretKey'],
    ['the name of root', 'root', { secretKey: 'long-enough' }, 409, 'XMinioAdminAccessKeyInUse'],
    ['a status that is none', 'carl', { secretKey: 'long-enough', status: 'odd' }, 400, 'XMinioAdminInvalidArgument'],
    ['no secret key', 'carl', {}, 404, 'XMinioAdminNoSuchUser'],
    ['a group', 'carl', { secretKey: 'long-enough', memberOf: ['staff'] }, 400, 'XMinioAdminConfigBadJSON'],
    ['what is no request', 'carl', 'rubbish', 400, 'XMinioAdminConfigBadJSON'],
  ])('are refused with %s', async (_, name, sealed, status, code) => {
    const rejected = await test.call('root', 'PUT', `add-user?accessKey=${name}`, { sealed });
    expect(rejected).toMatchObject({ status, value: { Code: code } });
  });

  it('are refused where the body is not encrypted, and nothing of it is repeated', async () => {
    const plain = JSON.stringify({ secretKey: 'a-secret-in-the-open' });
    const rejected = await test.call('root', 'PUT', 'add-user?accessKey=carl', { plain });
    expect(rejected).toMatchObject({ status: 400, value: { Code: 'XCofferInvalidRequest' } });
    expect(JSON.stringify(rejected.value)).not.toContain('a-secret');
  });

  it('who are disabled are refused, with all that they made', async () => {
    const { accessKey } = await test.identities.createServiceAccount({ subject: { kind: 'user', name: 'ann' } });
    expect((await test.call('root', 'PUT', 'set-user-status?accessKey=ann&status=disabled')).status).toBe(200);
    expect(await test.access.credentials('ann')).toBeUndefined();
    expect(await test.access.credentials(accessKey)).toBeUndefined();
    await test.call('root', 'PUT', 'set-user-status?accessKey=ann&status=enabled');
    expect(await test.access.credentials('ann')).toBeDefined();
  });

  it('who are removed lose temporary credentials and service accounts', async () => {
    const subject = { kind: 'user', name: 'ann' } as const;
    const expiration = new Date('2026-01-02T00:00:00Z');
    const temporary = await test.access.temporary.create({ subject, parentName: 'ann', expiration });
    const account = await test.identities.createServiceAccount({ subject });
    expect((await test.call('root', 'DELETE', 'remove-user?accessKey=ann')).status).toBe(200);
    await test.identities.putUser({ accessKey: 'ann', secretKey: 'another-ann' });
    for (const { accessKey } of [temporary, account]) expect(await test.access.credentials(accessKey)).toBeUndefined();
  });

  it.each([
    ['GET', 'user-info?accessKey=nobody'],
    ['PUT', 'set-user-status?accessKey=nobody&status=enabled'],
    ['DELETE', 'remove-user?accessKey=nobody'],
  ])('who do not exist are told apart: %s %s', async (method, target) => {
    expect(await test.call('root', method, target)).toMatchObject({
      status: 404,
      value: { Code: 'XMinioAdminNoSuchUser', Message: 'There is no user "nobody".' },
    });
  });
});

describe('people without a policy', () => {
  it('see themselves and change their own secret key', async () => {
    expect((await test.call('ann', 'GET', 'user-info?accessKey=ann')).status).toBe(200);
    const sealed = { secretKey: 'ann-new-password' };
    expect((await test.call('ann', 'PUT', 'add-user?accessKey=ann', { sealed })).status).toBe(200);
    expect(await test.identities.user('ann')).toMatchObject({ secretKey: 'ann-new-password' });
  });

  it('give themselves no policy, and change no other user', async () => {
    const sealed = { secretKey: 'ann-new-password', policy: 'consoleAdmin' };
    const denied = { status: 403, value: { Code: 'AccessDenied' } };
    expect(await test.call('ann', 'PUT', 'add-user?accessKey=ann', { sealed })).toMatchObject(denied);
    expect(await test.identities.user('ann')).toMatchObject({ secretKey: 'ann-password' });
    for (const [method, target] of [
      ['PUT', 'add-user?accessKey=bob'],
      ['PUT', 'add-user?accessKey=carl'],
      ['GET', 'user-info?accessKey=bob'],
      ['GET', 'list-users'],
      ['PUT', 'set-user-status?accessKey=ann&status=disabled'],
      ['DELETE', 'remove-user?accessKey=bob'],
    ] as const) {
      const rejected = await test.call('ann', method, target, { sealed: { secretKey: 'some-password' } });
      expect(rejected, target).toMatchObject(denied);
    }
  });

  it('are held by a policy that denies it', async () => {
    const policy = { Version: '2012-10-17', Statement: [{ Effect: 'Deny', Action: ['admin:CreateUser'] }] };
    await test.identities.putPolicy('no-passwords', JSON.stringify(policy));
    await test.identities.attach({ kind: 'user', name: 'ann' }, ['no-passwords']);
    const rejected = await test.call('ann', 'PUT', 'add-user?accessKey=ann', {
      sealed: { secretKey: 'some-password' },
    });
    expect(rejected.status).toBe(403);
  });

  it('do not change the password by a key that they made', async () => {
    await test.identities.createServiceAccount({
      subject: { kind: 'user', name: 'ann' },
      accessKey: 'robot',
      secretKey: 'robot-password',
    });
    const rejected = await test.call('robot', 'PUT', 'add-user?accessKey=ann', {
      sealed: { secretKey: 'some-password' },
    });
    expect(rejected.status).toBe(403);
  });
});

const created = '2026-01-01T00:00:00.000Z';

it('tells root of every bucket, with what root may do', async () => {
  const { call } = await adminTest({ buckets: ['a', 'b'] });
  expect((await call('root', 'GET', 'accountinfo')).value).toMatchObject({
    AccountName: 'root',
    Server: { Type: 2 },
    Policy: { Version: '2012-10-17', Statement: [{}, {}, { Action: ['s3:*'] }] },
    Buckets: [
      { name: 'a', created, access: { read: true, write: true } },
      { name: 'b', created, access: { read: true, write: true } },
    ],
  });
});

it('has each statement once, though several policies have it', async () => {
  const { call, identities } = await adminTest();
  await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  const reading = { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] };
  for (const name of ['one', 'two']) {
    await identities.putPolicy(name, JSON.stringify({ Version: '2012-10-17', Statement: [reading] }));
  }
  await identities.attach({ kind: 'user', name: 'ann' }, ['one', 'two']);
  expect((await call('ann', 'GET', 'accountinfo')).value).toMatchObject({ Policy: { Statement: [reading] } });
});

it('tells people of the buckets that their policies open, also by keys that a policy narrows', async () => {
  const { call, identities } = await adminTest({ buckets: ['a', 'b'] });
  await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  expect((await call('ann', 'GET', 'accountinfo')).value).toMatchObject({
    AccountName: 'ann',
    Policy: { Version: '2012-10-17', Statement: [] },
    Buckets: null,
  });
  const statement = { Effect: 'Allow', Action: ['s3:PutObject'], Resource: ['arn:aws:s3:::b/*'] };
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await identities.putPolicy('p', policy);
  await identities.attach({ kind: 'user', name: 'ann' }, ['p']);
  await identities.createServiceAccount({
    subject: { kind: 'user', name: 'ann' },
    accessKey: 'robot',
    secretKey: 'robot-password',
    policy,
  });
  for (const caller of ['ann', 'robot']) {
    expect((await call(caller, 'GET', 'accountinfo')).value).toMatchObject({
      AccountName: 'ann',
      Policy: { Version: '2012-10-17', Statement: [statement] },
      Buckets: [{ name: 'b', access: { read: false, write: true } }],
    });
  }
});

it('tells strangers nothing', async () => {
  const { call } = await adminTest();
  expect(await call('nobody', 'GET', 'accountinfo')).toMatchObject({ status: 403 });
});
