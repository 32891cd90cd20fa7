import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorAnswer, SessionAnswer } from '../../../protocol/console/answers.ts';
import type {
  GroupList,
  GroupRow,
  SecretAnswer,
  UserAnswer,
  UserList,
} from '../../../protocol/console/identity-answers.ts';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';

let console: TestConsole;
let root: TestBrowser;

beforeEach(async () => {
  console = await TestConsole.start();
  root = new TestBrowser(console.url);
  await root.signIn();
});
afterEach(() => console.close());

const json = async <Answer>(response: Response) => (await response.json()) as Answer;
const error = async (response: Response) => ({ status: response.status, ...(await json<ErrorAnswer>(response)) });
const create = (user: object) => root.send('POST', '/api/users', { json: user });
const userOf = async (name: string) =>
  json<UserAnswer>(await root.send('GET', `/api/user?${new URLSearchParams({ name }).toString()}`));
const groupOf = async (name: string) =>
  json<GroupRow>(await root.send('GET', `/api/group?${new URLSearchParams({ name }).toString()}`));

/** A user of this store, signed in. */
async function signedIn(name: string, policies: readonly string[] = []): Promise<TestBrowser> {
  await create({ name, secretKey: `${name}-secret`, policies });
  const browser = new TestBrowser(console.url);
  await browser.signIn({ accessKey: name, secretKey: `${name}-secret` });
  return browser;
}

describe('users', () => {
  it('are created with policies and groups, and get the policies of the groups', async () => {
    await root.send('POST', '/api/groups', { json: { name: 'staff', policies: ['writeonly'] } });
    const made = await create({ name: 'ann', policies: ['readonly'], groups: ['staff'] });
    expect(made.status).toBe(201);
    expect((await json<SecretAnswer>(made)).secretKey).toHaveLength(40);
    const ann = await userOf('ann');
    expect(ann).toMatchObject({ name: 'ann', status: 'enabled', policies: ['readonly'], groups: ['staff'] });
    expect(ann.inForce.map(({ name }) => name)).toEqual(['readonly', 'writeonly']);
  });

  it('never show a given secret key', async () => {
    const text = await (await create({ name: 'ann', secretKey: 'ann-secret' })).text();
    expect(text).not.toContain('ann-secret');
    expect(JSON.stringify(await userOf('ann'))).not.toContain('ann-secret');
  });

  it('are not replaced by another of the same name', async () => {
    await create({ name: 'ann', secretKey: 'ann-secret' });
    const again = await error(await create({ name: 'ann', secretKey: 'other-secret' }));
    expect(again).toMatchObject({ status: 409, field: 'name', message: expect.stringContaining('another user') });
    const browser = new TestBrowser(console.url);
    expect((await browser.signIn({ accessKey: 'ann', secretKey: 'ann-secret' })).status).toBe(200);
  });

  it.each([
    [{ name: 'a=b', secretKey: 'long-enough' }, 'name', 'XMinioAdminInvalidAccessKey'],
    [{ name: 'ann', secretKey: 'short' }, 'secretKey', 'XMinioAdminInvalidSecretKey'],
    [{ name: '' }, 'name', 'BadRequest'],
  ])('are refused with the field that is wrong: %j', async (user, field, code) => {
    expect(await error(await create(user))).toMatchObject({ status: 400, field, code });
  });

  it('are not created if a policy does not exist', async () => {
    expect((await create({ name: 'ann', policies: ['mistyped'] })).status).toBe(404);
    expect((await create({ name: 'ann', groups: ['mistyped'] })).status).toBe(404);
    expect((await json<UserList>(await root.send('GET', '/api/users'))).users).toEqual([]);
  });

  it('are searched by the server', async () => {
    for (const name of ['ann', 'anton', 'bob']) await create({ name });
    const { users } = await json<UserList>(await root.send('GET', '/api/users?contains=AN'));
    expect(users.map(({ name }) => name)).toEqual(['ann', 'anton']);
  });

  it('lose their rights as soon as they are disabled', async () => {
    const ann = await signedIn('ann', ['readwrite']);
    expect((await ann.send('GET', '/api/buckets')).status).toBe(200);
    await root.send('PUT', '/api/user/status?name=ann', { json: { status: 'disabled' } });
    expect((await ann.send('GET', '/api/buckets')).status).toBe(401);
  });

  it('get and lose the given policies and groups', async () => {
    for (const name of ['one', 'two']) await root.send('POST', '/api/groups', { json: { name } });
    await create({ name: 'ann', policies: ['readonly'], groups: ['one'] });
    await root.send('PUT', '/api/user/policies?name=ann', {
      json: { policies: { add: ['writeonly'], remove: ['readonly'] } },
    });
    await root.send('PUT', '/api/user/groups?name=ann', { json: { groups: { add: ['two'], remove: ['one'] } } });
    expect(await userOf('ann')).toMatchObject({ policies: ['writeonly'], groups: ['two'] });
  });

  it('get a new secret key from the server or an administrator, and their sessions end', async () => {
    const ann = await signedIn('ann');
    const { secretKey } = await json<SecretAnswer>(
      await root.send('PUT', '/api/user/secret-key?name=ann', { json: {} }),
    );
    expect((await ann.send('GET', '/api/session')).status).toBe(401);
    expect((await ann.signIn({ accessKey: 'ann', secretKey: secretKey ?? '' })).status).toBe(200);
    expect((await root.send('PUT', '/api/user/secret-key?name=nobody', { json: {} })).status).toBe(404);
  });

  it('replace their secret key if they know the current one', async () => {
    const ann = await signedIn('ann');
    const replace = (currentSecretKey: string) =>
      ann.send('PUT', '/api/own-secret-key', { json: { currentSecretKey, secretKey: 'another-secret' } });
    expect(await error(await replace('guessed-wrong'))).toMatchObject({ status: 400, field: 'currentSecretKey' });
    expect((await replace('ann-secret')).status).toBe(204);
    expect((await ann.signIn({ accessKey: 'ann', secretKey: 'another-secret' })).status).toBe(200);
  });

  it('are limited when they guess their secret key', async () => {
    const ann = await signedIn('ann');
    const guess = () =>
      ann.send('PUT', '/api/own-secret-key', { json: { currentSecretKey: 'x', secretKey: 'another-secret' } });
    for (let count = 0; count < 10; count += 1) expect((await guess()).status).toBe(400);
    expect((await guess()).status).toBe(429);
  });

  it('are deleted with all that they own', async () => {
    const ann = await signedIn('ann', ['readwrite']);
    await ann.send('POST', '/api/access-keys', { json: { accessKey: 'of-ann', secretKey: 'of-ann-secret' } });
    expect((await root.send('DELETE', '/api/user?name=ann')).status).toBe(204);
    expect((await ann.send('GET', '/api/session')).status).toBe(401);
    const program = new TestBrowser(console.url);
    expect((await program.signIn({ accessKey: 'of-ann', secretKey: 'of-ann-secret' })).status).toBe(401);
  });
});

describe('groups', () => {
  it('are created, listed with their members, disabled, and deleted once they are empty', async () => {
    await create({ name: 'ann', secretKey: 'ann-secret' });
    const made = await root.send('POST', '/api/groups', {
      json: { name: 'staff', members: ['ann'], policies: ['readwrite'] },
    });
    expect(made.status).toBe(201);
    const { groups } = await json<GroupList>(await root.send('GET', '/api/groups'));
    expect(groups).toMatchObject([{ name: 'staff', members: ['ann'], policies: ['readwrite'], status: 'enabled' }]);
    await root.send('PUT', '/api/group/status?name=staff', { json: { status: 'disabled' } });
    expect((await userOf('ann')).inForce).toEqual([]);
    expect(await error(await root.send('DELETE', '/api/group?name=staff'))).toMatchObject({ status: 400 });
    await root.send('PUT', '/api/group/members?name=staff', {
      json: { members: { add: [], remove: ['ann'] } },
    });
    expect((await root.send('DELETE', '/api/group?name=staff')).status).toBe(204);
  });

  it('may have a name that is not valid in a path', async () => {
    for (const name of ['..', 'a/b', 'with space']) {
      expect((await root.send('POST', '/api/groups', { json: { name } })).status).toBe(201);
      expect((await groupOf(name)).name).toBe(name);
    }
  });

  it('keep their members if a new one does not exist', async () => {
    await create({ name: 'ann' });
    await root.send('POST', '/api/groups', { json: { name: 'staff', members: ['ann'] } });
    const rejected = await root.send('PUT', '/api/group/members?name=staff', {
      json: { members: { add: ['nobody'], remove: ['ann'] } },
    });
    expect(rejected.status).toBe(404);
    expect((await groupOf('staff')).members).toEqual(['ann']);
  });

  it('are not created twice', async () => {
    await root.send('POST', '/api/groups', { json: { name: 'staff' } });
    const again = await error(await root.send('POST', '/api/groups', { json: { name: 'staff' } }));
    expect(again).toMatchObject({ status: 409, code: 'Exists', field: 'name' });
  });
});

const save = async (browser: TestBrowser, path: string, body: object) =>
  expect((await browser.send('PUT', path, { json: body })).status).toBe(204);

/** Each of two administrators has read the list before the other one saved it. */
describe('two administrators who change one list', () => {
  let other: TestBrowser;

  beforeEach(async () => {
    other = await signedIn('admin', ['consoleAdmin']);
    for (const name of ['one', 'two', 'three']) await root.send('POST', '/api/groups', { json: { name } });
    for (const name of ['bob', 'carl']) await create({ name });
    await create({ name: 'ann', policies: ['readonly'], groups: ['one'] });
    await root.send('POST', '/api/groups', { json: { name: 'staff', members: ['ann'], policies: ['readonly'] } });
  });

  it('keep the policies that the other one gave a user, a Deny included', async () => {
    const document = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Deny', Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::*' }],
    });
    await root.send('PUT', '/api/policy?name=no-deletes', { json: { document } });
    await save(other, '/api/user/policies?name=ann', { policies: { add: ['no-deletes'], remove: [] } });
    await save(root, '/api/user/policies?name=ann', { policies: { add: ['writeonly'], remove: ['readonly'] } });
    expect((await userOf('ann')).policies).toEqual(['no-deletes', 'writeonly']);
  });

  it('keep the policies that the other one gave a group', async () => {
    await save(other, '/api/group/policies?name=staff', { policies: { add: ['diagnostics'], remove: [] } });
    await save(root, '/api/group/policies?name=staff', { policies: { add: ['writeonly'], remove: ['readonly'] } });
    expect((await groupOf('staff')).policies).toEqual(['diagnostics', 'writeonly']);
  });

  it('keep the groups that the other one gave a user', async () => {
    await save(other, '/api/user/groups?name=ann', { groups: { add: ['two'], remove: ['one'] } });
    await save(root, '/api/user/groups?name=ann', { groups: { add: ['three'], remove: [] } });
    expect((await userOf('ann')).groups).toEqual(['staff', 'three', 'two']);
  });

  it('keep the members that the other one added and removed', async () => {
    await save(other, '/api/group/members?name=staff', { members: { add: ['bob'], remove: ['ann'] } });
    await save(root, '/api/group/members?name=staff', { members: { add: ['carl'], remove: [] } });
    expect((await groupOf('staff')).members).toEqual(['bob', 'carl']);
  });

  it('may both make the same change', async () => {
    for (const browser of [other, root]) {
      await save(browser, '/api/user/policies?name=ann', { policies: { add: ['writeonly'], remove: ['readonly'] } });
      await save(browser, '/api/group/members?name=staff', { members: { add: ['bob'], remove: ['ann'] } });
    }
    expect((await userOf('ann')).policies).toEqual(['writeonly']);
    expect((await groupOf('staff')).members).toEqual(['bob']);
  });

  it('are refused a whole list, as a page of an earlier release sends it', async () => {
    const answer = await root.send('PUT', '/api/user/policies?name=ann', { json: { policies: ['writeonly'] } });
    expect(answer.status).toBe(400);
    expect((await userOf('ann')).policies).toEqual(['readonly']);
  });
});

describe('users without the right', () => {
  const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', '/api/users'],
    ['POST', '/api/users', { name: 'eve2', secretKey: 'eve-secret' }],
    ['GET', '/api/user?name=eve'],
    ['DELETE', '/api/user?name=eve'],
    ['PUT', '/api/user/status?name=eve', { status: 'disabled' }],
    ['PUT', '/api/user/secret-key?name=eve', { secretKey: 'other-secret' }],
    ['PUT', '/api/user/policies?name=eve', { policies: ['consoleAdmin'] }],
    ['PUT', '/api/user/groups?name=eve', { groups: [] }],
    ['GET', '/api/groups'],
    ['POST', '/api/groups', { name: 'mine' }],
    ['GET', '/api/group?name=staff'],
    ['DELETE', '/api/group?name=staff'],
    ['PUT', '/api/group/members?name=staff', { members: ['eve'] }],
    ['PUT', '/api/group/status?name=staff', { status: 'disabled' }],
    ['PUT', '/api/group/policies?name=staff', { policies: ['consoleAdmin'] }],
    ['GET', '/api/policies'],
    ['GET', '/api/policy?name=readonly'],
    ['PUT', '/api/policy?name=mine', { document: '{"Version":"2012-10-17","Statement":[]}' }],
    ['DELETE', '/api/policy?name=tidier'],
    ['POST', '/api/policy/attach?name=consoleAdmin', { kind: 'user', name: 'eve' }],
    ['POST', '/api/policy/detach?name=readwrite', { kind: 'user', name: 'eve' }],
    ['GET', '/api/access-keys?of=all'],
    ['POST', '/api/access-keys', { owner: 'root' }],
    ['POST', '/api/explain', { who: { kind: 'name', name: 'root' }, action: 's3:GetObject' }],
    ['GET', '/api/identity-providers'],
    ['GET', '/api/identity-provider?type=openid&name=_'],
    ['POST', '/api/identity-providers?type=openid', { name: 'X', values: {} }],
    ['PUT', '/api/identity-provider?type=openid&name=_', { changes: {} }],
    ['PUT', '/api/identity-provider/enabled?type=openid&name=_', { enabled: false }],
    ['DELETE', '/api/identity-provider?type=openid&name=_'],
    ['POST', '/api/identity-provider/test?type=openid&name=_', {}],
    ['GET', '/api/status'],
  ];

  it('are refused by every call of an administrator, which names the right', async () => {
    await root.send('POST', '/api/groups', { json: { name: 'staff' } });
    const eve = await signedIn('eve', ['readwrite']);
    for (const [method, path, body] of calls) {
      const answer = await error(await eve.send(method, path, body === undefined ? {} : { json: body }));
      expect({ method, path, ...answer }).toMatchObject({ status: 403, code: 'AccessDenied' });
      expect(answer.message).toContain('admin:');
    }
  });

  it('see no page that would refuse them', async () => {
    const eve = await signedIn('eve', ['readwrite']);
    const { may } = await json<SessionAnswer>(await eve.send('GET', '/api/session'));
    expect(may.all).toEqual([]);
    expect(may.own).toContain('admin:CreateServiceAccount');
    const admin = await signedIn('adam', ['consoleAdmin']);
    const rights = await json<SessionAnswer>(await admin.send('GET', '/api/session'));
    expect(rights.may.all).toContain('admin:ListUsers');
  });

  it('cannot change anything from another site', async () => {
    const evil = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, json: { name: 'ann' } };
    expect(await error(await root.send('POST', '/api/users', evil))).toMatchObject({ code: 'CrossSiteRequest' });
  });
});
