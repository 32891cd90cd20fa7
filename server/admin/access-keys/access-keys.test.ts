import { beforeEach, describe, expect, it } from 'vitest';
import { federated } from '../../../test/support/auth/identities.ts';
import { adminTest } from '../../../test/support/admin/admin.ts';

let test: Awaited<ReturnType<typeof adminTest>>;
const denied = { status: 403, value: { Code: 'AccessDenied' } };
const expiration = new Date('2026-01-02T00:00:00Z');
const ann = { kind: 'user', name: 'ann' } as const;

beforeEach(async () => {
  test = await adminTest();
  for (const accessKey of ['ann', 'bob']) {
    await test.identities.putUser({ accessKey, secretKey: `${accessKey}-password` });
  }
  await test.identities.createServiceAccount({ subject: ann, accessKey: 'robot', secretKey: 'robot-password' });
});

const temporaryOf = (subject: typeof ann | ReturnType<typeof federated>) =>
  test.access.temporary.create({ subject, parentName: 'ann', expiration });

const list = (by: string, query: string) => test.call(by, 'GET', `list-access-keys-bulk?${query}`);
const listed = async (type: string) => (await list('root', `listType=${type}&all=true`)).value;

describe('access keys', () => {
  const robot = {
    parentUser: 'ann',
    accountStatus: 'on',
    impliedPolicy: true,
    accessKey: 'robot',
    expiration: '1970-01-01T00:00:00Z',
  };

  it('are listed of everybody, by kind', async () => {
    const { accessKey } = await temporaryOf(ann);
    const temporary = { ...robot, accessKey, expiration: '2026-01-02T00:00:00Z' };
    const none = { serviceAccounts: null, stsKeys: null };
    expect(await listed('all')).toEqual({
      root: none,
      ann: { serviceAccounts: [robot], stsKeys: [temporary] },
      bob: none,
    });
    expect(await listed('users-only')).toEqual({ root: none, ann: none, bob: none });
    expect(await listed('svcacc-only')).toEqual({ ann: { serviceAccounts: [robot], stsKeys: null } });
    expect(await listed('sts-only')).toEqual({ ann: { serviceAccounts: null, stsKeys: [temporary] } });
  });

  it('are listed of users by name, and of the caller where none is named', async () => {
    const ofAnn = { ann: { serviceAccounts: [robot], stsKeys: null } };
    expect((await list('root', 'listType=all&users=ann&users=nobody')).value).toEqual(ofAnn);
    expect((await list('ann', 'listType=all')).value).toEqual(ofAnn);
    expect((await list('ann', 'listType=all&users=ann')).value).toEqual(ofAnn);
    expect((await list('robot', 'listType=all')).value).toEqual(ofAnn);
  });

  it('of others need the right', async () => {
    expect(await list('ann', 'listType=all&users=bob')).toMatchObject(denied);
    expect(await list('ann', 'listType=all&all=true')).toMatchObject(denied);
  });

  it.each(['', 'listType=odd', 'listType=all&all=true&users=ann'])('are not listed by %j', async (query) => {
    expect(await list('root', query)).toMatchObject({ status: 400, value: { Code: 'XCofferInvalidRequest' } });
  });

  it('tell what they are, to themselves also without a name', async () => {
    const shown = { AccessKey: 'robot', parentUser: 'ann', userType: 'Service Account', userProvider: 'builtin' };
    expect((await test.call('ann', 'GET', 'info-access-key?accessKey=robot')).value).toMatchObject(shown);
    expect((await test.call('robot', 'GET', 'info-access-key')).value).toMatchObject(shown);
    expect(await test.call('bob', 'GET', 'info-access-key?accessKey=robot')).toMatchObject(denied);
  });

  it('that are temporary tell whom the provider knows', async () => {
    const subject = federated({ parent: 'parent-of-eve', displayName: 'eve', subjectId: 'sub-of-eve' });
    const { accessKey } = await temporaryOf(subject);
    expect((await test.call(accessKey, 'GET', 'info-access-key')).value).toMatchObject({
      AccessKey: accessKey,
      parentUser: 'parent-of-eve',
      accountStatus: 'on',
      impliedPolicy: true,
      policy: expect.stringContaining('s3:GetObject') as string,
      expiration: '2026-01-02T00:00:00Z',
      userType: 'STS',
      userProvider: 'openid',
      openIDSpecificInfo: { configName: 'P', userID: 'sub-of-eve', userIDClaim: 'sub', displayName: 'eve' },
    });
    const older = await test.call('root', 'GET', `temporary-account-info?accessKey=${accessKey}`);
    expect(older.value).toMatchObject({ parentUser: 'parent-of-eve', expiration: '2026-01-02T00:00:00Z' });
    expect(await test.call('ann', 'GET', `temporary-account-info?accessKey=${accessKey}`)).toMatchObject(denied);
  });

  it('that are none are told apart', async () => {
    const none = { status: 404, value: { Code: 'XMinioAdminNoSuchAccessKey' } };
    expect(await test.call('root', 'GET', 'info-access-key?accessKey=nix')).toMatchObject(none);
    expect(await test.call('root', 'GET', 'temporary-account-info?accessKey=nix')).toMatchObject(none);
    for (const call of ['info-access-key', 'temporary-account-info'])
      expect(await test.call('ann', 'GET', `${call}?accessKey=nix`)).toMatchObject(denied);
  });
});
