import { beforeEach, describe, expect, it } from 'vitest';
import { federated } from '../../../test/support/auth/identities.ts';
import { adminTest } from '../../../test/support/admin/admin.ts';

let test: Awaited<ReturnType<typeof adminTest>>;
const reading = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] }],
};
const allowing = (...actions: string[]) =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: actions }] });
const oldClient = 'MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-04-12T02-21-51Z';
const denied = { status: 403, value: { Code: 'AccessDenied' } };

beforeEach(async () => {
  test = await adminTest();
  for (const accessKey of ['ann', 'bob', 'admin']) {
    await test.identities.putUser({ accessKey, secretKey: `${accessKey}-password` });
  }
  await test.identities.attach({ kind: 'user', name: 'ann' }, ['readonly']);
  await test.identities.attach({ kind: 'user', name: 'admin' }, ['consoleAdmin']);
});

const add = (by: string, sealed: object) => test.call(by, 'PUT', 'add-service-account', { sealed });
const update = (by: string, key: string, sealed: object) =>
  test.call(by, 'POST', `update-service-account?accessKey=${key}`, { sealed });
const info = (by: string, key: string) => test.call(by, 'GET', `info-service-account?accessKey=${key}`);

/** A service account, and the access key by which it asks. */
async function account(given: object): Promise<string> {
  const { accessKey } = await test.identities.createServiceAccount({
    subject: { kind: 'user', name: 'ann' },
    secretKey: 'robot-password',
    ...given,
  });
  return accessKey;
}

describe('people without a policy', () => {
  it('make access keys of their own, and are told their secrets once', async () => {
    const { status, value } = await add('bob', {});
    expect(status).toBe(200);
    const { credentials } = value as { credentials: { accessKey: string; secretKey: string } };
    expect(credentials).toEqual({
      accessKey: expect.stringMatching(/^[0-9A-Z]{20}$/) as string,
      secretKey: expect.stringMatching(/^.{40}$/) as string,
      expiration: '1970-01-01T00:00:00Z',
    });
    expect(await test.access.credentials(credentials.accessKey)).toMatchObject({ secretKey: credentials.secretKey });
    expect(JSON.stringify((await info('bob', credentials.accessKey)).value)).not.toContain(credentials.secretKey);
  });

  it('make them as the Python client of MinIO asks for them', async () => {
    const body = { status: 'enabled', accessKey: null, secretKey: null, name: 'robot' };
    expect((await add('bob', body)).status).toBe(200);
  });

  it('see, change and remove them', async () => {
    await account({ accessKey: 'robot', name: 'n', description: 'd', policy: JSON.stringify(reading) });
    expect((await info('ann', 'robot')).value).toEqual({
      parentUser: 'ann',
      accountStatus: 'on',
      impliedPolicy: false,
      policy: JSON.stringify(reading, null, 1),
      name: 'n',
      description: 'd',
    });
    const change = {
      newSecretKey: 'another-secret',
      newStatus: 'off',
      newName: 'm',
      newExpiration: '2030-01-01T00:00:00Z',
    };
    expect((await update('ann', 'robot', change)).status).toBe(204);
    expect(await test.identities.serviceAccount('robot')).toMatchObject({
      secretKey: 'another-secret',
      status: 'disabled',
      name: 'm',
      description: 'd',
      policy: JSON.stringify(reading),
      expiration: Date.parse('2030-01-01T00:00:00Z'),
    });
    expect((await test.call('ann', 'DELETE', 'delete-service-account?accessKey=robot')).status).toBe(204);
    expect(await test.identities.serviceAccount('robot')).toBeUndefined();
  });

  it('do nothing for others, nor to what is theirs', async () => {
    await account({ accessKey: 'robot' });
    expect(await add('bob', { targetUser: 'ann' })).toMatchObject(denied);
    expect(await add('bob', { targetUser: 'robot' })).toMatchObject(denied);
    expect(await add('bob', { targetUser: 'root' })).toMatchObject(denied);
    expect(await info('bob', 'robot')).toMatchObject(denied);
    expect(await update('bob', 'robot', { newStatus: 'off' })).toMatchObject(denied);
    expect(await test.call('bob', 'GET', 'list-service-accounts?user=ann')).toMatchObject(denied);
    expect(await test.call('bob', 'DELETE', 'delete-service-account?accessKey=robot')).toMatchObject(denied);
  });

  it('are held by a policy that denies it', async () => {
    const policy = { Version: '2012-10-17', Statement: [{ Effect: 'Deny', Action: ['admin:CreateServiceAccount'] }] };
    await test.identities.putPolicy('no-keys', JSON.stringify(policy));
    await test.identities.attach({ kind: 'user', name: 'bob' }, ['no-keys']);
    expect(await add('bob', {})).toMatchObject(denied);
  });
});

describe('administrators', () => {
  it('make keys for others, who have their rights then', async () => {
    const { status } = await add('admin', { targetUser: 'ann', accessKey: 'robot', secretKey: 'robot-password' });
    expect(status).toBe(200);
    expect(await test.identities.serviceAccount('robot')).toMatchObject({ subject: { kind: 'user', name: 'ann' } });
    expect((await info('admin', 'robot')).value).toMatchObject({ parentUser: 'ann', impliedPolicy: true });
  });

  it('make no key by the name of another key, which its owner may have chosen to be taken for a person', async () => {
    await account({ accessKey: 'carol' });
    expect(await add('admin', { targetUser: 'carol', accessKey: 'robot2' })).toMatchObject({ status: 404 });
    expect(await test.identities.serviceAccount('robot2')).toBeUndefined();
  });

  it('make keys for a person of a provider who has one already, by the name of the person', async () => {
    await account({ accessKey: 'first', subject: federated({ parent: 'hash-of-carol', policies: ['readonly'] }) });
    expect(await add('admin', { targetUser: 'hash-of-carol', accessKey: 'second' })).toMatchObject({ status: 200 });
    expect(await test.identities.serviceAccount('second')).toMatchObject({
      subject: { parent: 'hash-of-carol', policies: ['readonly'] },
    });
  });

  it('who are not root do not touch what is of root', async () => {
    await account({ accessKey: 'ofroot', subject: { kind: 'root' } });
    expect(await add('admin', { targetUser: 'root' })).toMatchObject(denied);
    expect((await add('admin', { targetUser: 'ofroot' })).status).toBe(404);
    expect(await update('admin', 'ofroot', { newSecretKey: 'taken-over' })).toMatchObject(denied);
    expect(await test.call('admin', 'DELETE', 'delete-service-account?accessKey=ofroot')).toMatchObject(denied);
    expect((await update('root', 'ofroot', { newSecretKey: 'root-changes' })).status).toBe(204);
  });

  it.each([
    ['a user who is none', { targetUser: 'nobody' }, 404, 'XMinioAdminNoSuchUser'],
    ['a key that a user has', { accessKey: 'bob' }, 409, 'XMinioAdminAccessKeyInUse'],
    ['the key of root', { accessKey: 'root' }, 409, 'XMinioAdminAccessKeyInUse'],
    ['a short secret', { secretKey: 'short' }, 400, 'XMinioAdminInvalidSecretKey'],
    ['an end in the past', { expiration: '2020-01-01T00:00:00Z' }, 400, 'XCofferInvalidRequest'],
    ['a status that a new one cannot have', { status: 'disabled' }, 400, 'XMinioAdminConfigBadJSON'],
    ['an end that is no time', { expiration: 'tomorrow' }, 400, 'XMinioAdminInvalidArgument'],
    ['a policy that is none', { policy: { Statement: [{ Effect: 'Maybe' }] } }, 400, 'XMinioMalformedIAMPolicy'],
  ])('are refused for %s', async (_, sealed, status, code) => {
    expect(await add('admin', sealed)).toMatchObject({ status, value: { Code: code } });
  });
});

describe('temporary credentials', () => {
  const ann = federated({
    targets: [{ kind: 'claim', provider: 'P', claim: 'groups', value: 'x' }],
    claims: { sub: 's' },
  });
  const expiration = new Date('2026-01-02T00:00:00Z');

  it('make keys for the person behind them, with all that the provider said', async () => {
    const temporary = await test.access.temporary.create({ subject: ann, parentName: ann.parent, expiration });
    const { value } = await add(temporary.accessKey, { accessKey: 'robot', secretKey: 'robot-password' });
    expect(value).toMatchObject({ credentials: { accessKey: 'robot' } });
    expect(await test.identities.serviceAccount('robot')).toMatchObject({ subject: ann });
    const listed = await test.call(temporary.accessKey, 'GET', 'list-service-accounts');
    expect(listed.value).toMatchObject({ accounts: [{ parentUser: ann.parent, accessKey: 'robot' }] });
  });

  it('of a session with a policy make none, unless it says so, and then narrowed alike', async () => {
    const session = (policy: string) =>
      test.access.temporary.create({ subject: ann, parentName: ann.parent, expiration, sessionPolicy: policy });
    const narrow = await session(JSON.stringify(reading));
    expect(await add(narrow.accessKey, {})).toMatchObject(denied);
    await test.identities.putPolicy('keys', allowing('admin:CreateServiceAccount'));
    await test.identities.attach({ kind: 'claim', provider: 'P', claim: 'groups', value: 'x' }, ['keys']);
    const wider = await session(allowing('admin:CreateServiceAccount'));
    expect((await add(wider.accessKey, { accessKey: 'robot' })).status).toBe(200);
    const { policy } = (await test.identities.serviceAccount('robot')) ?? {};
    expect(JSON.parse(policy ?? '')).toEqual(JSON.parse(allowing('admin:CreateServiceAccount')));
    expect(await add(wider.accessKey, { policy: reading })).toMatchObject({ status: 400 });
  });
});

describe('a service account', () => {
  it('without a policy acts for its owner', async () => {
    await account({ accessKey: 'robot' });
    expect((await add('robot', { accessKey: 'robot2' })).status).toBe(200);
    expect((await test.call('robot', 'GET', 'list-service-accounts')).value).toMatchObject({
      accounts: [{ accessKey: 'robot' }, { accessKey: 'robot2' }],
    });
  });

  it('that a policy narrows cannot free itself, nor by another key of its owner', async () => {
    await account({ accessKey: 'robot', policy: allowing('admin:*') });
    await account({ accessKey: 'free' });
    expect(await update('robot', 'robot', { newPolicy: { Version: '2012-10-17', Statement: [] } })).toMatchObject(
      denied,
    );
    expect(await update('robot', 'free', { newSecretKey: 'taken-over' })).toMatchObject(denied);
    expect(await add('robot', {})).toMatchObject(denied);
    expect(await test.call('robot', 'DELETE', 'delete-service-account?accessKey=free')).toMatchObject(denied);
  });

  it('of root that a policy narrows makes no key that is not, and changes none', async () => {
    await account({ accessKey: 'robot', subject: { kind: 'root' }, policy: allowing('admin:*') });
    await account({ accessKey: 'free', subject: { kind: 'root' } });
    expect((await add('robot', { accessKey: 'robot2' })).status).toBe(200);
    expect((await test.identities.serviceAccount('robot2'))?.policy).toBeDefined();
    expect(await update('robot', 'free', { newSecretKey: 'taken-over' })).toMatchObject(denied);
    expect(await update('robot', 'robot', { newPolicy: { Statement: [] } })).toMatchObject(denied);
  });

  it.each([
    ['a version and no statement', { Version: '2012-10-17', Statement: [] }],
    ['statements of null', { Version: '2012-10-17', Statement: null }],
    ['a version alone', { Version: '2012-10-17' }],
    ['an empty list of statements', { Statement: [] }],
    ['an id alone', { Id: 'x' }],
    ['a list', []],
  ])('is not opened by a policy with %s, new or changed', async (_, policy) => {
    const refused = { status: 400, value: { Code: 'XMinioMalformedIAMPolicy' } };
    expect(await add('ann', { accessKey: 'made', secretKey: 'made-password', policy })).toMatchObject(refused);
    expect(await test.identities.serviceAccount('made')).toBeUndefined();
    await account({ accessKey: 'robot', policy: JSON.stringify(reading) });
    expect(await update('ann', 'robot', { newPolicy: policy })).toMatchObject(refused);
    expect((await test.identities.serviceAccount('robot'))?.policy).toBe(JSON.stringify(reading));
  });

  it.each([{}, { Version: '', Statement: null }])('has none by %j, which clients write for none', async (policy) => {
    expect((await add('ann', { accessKey: 'made', secretKey: 'made-password', policy })).status).toBe(200);
    expect((await test.identities.serviceAccount('made'))?.policy).toBeUndefined();
  });

  it('loses its policy by {}, and its end by the time that means never', async () => {
    await account({ accessKey: 'robot', policy: JSON.stringify(reading), expiration: new Date('2030-01-01') });
    await update('ann', 'robot', { newPolicy: {}, newExpiration: '1970-01-01T00:00:00Z' });
    const changed = await test.identities.serviceAccount('robot');
    expect([changed?.policy, changed?.expiration]).toEqual([undefined, undefined]);
    expect((await info('ann', 'robot')).value).toMatchObject({
      impliedPolicy: true,
      policy: expect.stringContaining('s3:GetBucketLocation') as string,
    });
  });

  it('that is none is told apart by those who may do this to the keys of others alone', async () => {
    const none = { status: 404, value: { Code: 'XMinioAdminNoSuchAccessKey' } };
    const answers = async (by: string, key: string) => [
      await info(by, key),
      await update(by, key, {}),
      await test.call(by, 'DELETE', `delete-service-account?accessKey=${key}`),
    ];
    for (const answer of await answers('root', 'nix')) expect(answer).toMatchObject(none);
    await test.identities.createServiceAccount({
      subject: { kind: 'root' },
      accessKey: 'not-of-ann',
      secretKey: 'a-secret-key',
    });
    const ofAnother = await answers('ann', 'not-of-ann');
    for (const answer of ofAnother) expect(answer).toMatchObject(denied);
    expect(await answers('ann', 'nix')).toEqual(ofAnother);
  });
});

describe('older clients', () => {
  it('list names alone, and say comment for description', async () => {
    const sealed = { accessKey: 'robot', comment: 'for the night' };
    await test.call('ann', 'PUT', 'add-service-account', { sealed, userAgent: oldClient });
    const listed = await test.call('ann', 'GET', 'list-service-accounts?user=ann', { userAgent: oldClient });
    expect(listed.value).toEqual({ accounts: ['robot'] });
    const shown = await test.call('ann', 'GET', 'info-service-account?accessKey=robot', { userAgent: oldClient });
    expect(shown.value).toMatchObject({ comment: 'for the night', description: 'for the night' });
    await test.call('ann', 'POST', 'update-service-account?accessKey=robot', { sealed: { newComment: 'of the day' } });
    expect((await info('ann', 'robot')).value).toMatchObject({ description: 'of the day' });
    expect((await info('ann', 'robot')).value).not.toHaveProperty('comment');
  });
});
