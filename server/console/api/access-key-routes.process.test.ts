import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenIdProviderDouble } from '../../../test/support/openid/openid-provider.ts';
import type { AccessKeyAnswer, AccessKeyList, NewAccessKeyAnswer } from '../../../protocol/console/identity-answers.ts';
import type { ErrorAnswer } from '../../../protocol/console/answers.ts';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';

let provider: OpenIdProviderDouble;
let console: TestConsole;
let root: TestBrowser;
/** A user with the policy readwrite. */
let ann: TestBrowser;

beforeEach(async () => {
  provider = await OpenIdProviderDouble.start({ users: [{ username: 'alice', claims: { policy: 'readwrite' } }] });
  console = await TestConsole.start({ openid: [{ id: 'DEMO', configUrl: provider.configUrl }] });
  provider.realm.clients.get('coffer')?.redirectUris.push(`${console.url}/oauth_callback`);
  root = new TestBrowser(console.url);
  await root.signIn();
  ann = await user('ann', ['readwrite']);
});
afterEach(async () => {
  await console.close();
  await provider.close();
});

async function user(name: string, policies: readonly string[]): Promise<TestBrowser> {
  await root.send('POST', '/api/users', { json: { name, secretKey: `${name}-secret`, policies } });
  return signedIn({ accessKey: name, secretKey: `${name}-secret` });
}

async function signedIn(keys: { readonly accessKey: string; readonly secretKey: string }): Promise<TestBrowser> {
  const browser = new TestBrowser(console.url);
  await browser.signIn(keys);
  return browser;
}

const json = async <Answer>(response: Response) => (await response.json()) as Answer;
const error = async (response: Response) => ({ status: response.status, ...(await json<ErrorAnswer>(response)) });
const create = async (by: TestBrowser, form: object = {}) =>
  json<NewAccessKeyAnswer>(await by.send('POST', '/api/access-keys', { json: form }));
const listOf = async (by: TestBrowser, query = '') =>
  (await json<AccessKeyList>(await by.send('GET', `/api/access-keys${query}`))).keys;
const reader = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: '*' }],
});

describe('access keys', () => {
  it('are not shown to their owner where a policy denies it', async () => {
    const { accessKey } = await create(ann);
    expect((await ann.send('GET', `/api/access-key?key=${accessKey}`)).status).toBe(200);
    const Statement = [{ Effect: 'Deny', Action: 'admin:ListServiceAccounts', Resource: 'arn:aws:s3:::*' }];
    await console.identities.putPolicy('hidden', JSON.stringify({ Version: '2012-10-17', Statement }));
    await console.identities.attach({ kind: 'user', name: 'ann' }, ['hidden']);
    for (const path of ['access-keys', `access-key?key=${accessKey}`])
      expect(await error(await ann.send('GET', `/api/${path}`))).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  it('can be created by every user, with a secret key that is returned once', async () => {
    const expires = new Date(Date.now() + 86_400_000).toISOString();
    const made = await create(ann, { name: 'backup', description: 'nightly', expires });
    expect(made).toMatchObject({ accessKey: expect.stringMatching(/^[0-9A-Z]{20}$/), expires });
    expect(made.secretKey).toHaveLength(40);
    const listed = await ann.send('GET', '/api/access-keys');
    const text = await listed.text();
    expect(text).not.toContain(made.secretKey);
    expect(JSON.parse(text)).toMatchObject({
      keys: [
        {
          accessKey: made.accessKey,
          kind: 'service-account',
          owner: { kind: 'user', name: 'ann' },
          own: true,
          status: 'enabled',
          narrowed: false,
          name: 'backup',
          description: 'nightly',
          expires,
        },
      ],
    });
  });

  it('sign in, and may do what their owner may', async () => {
    const program = await signedIn(await create(ann));
    expect((await program.send('POST', '/api/buckets', { json: { name: 'of-ann' } })).status).toBe(201);
  });

  it('are restricted by their own policy, which is shown', async () => {
    const made = await create(ann, { policy: reader });
    const program = await signedIn(made);
    expect((await program.send('POST', '/api/buckets', { json: { name: 'of-ann' } })).status).toBe(403);
    const shown = await json<AccessKeyAnswer>(await ann.send('GET', `/api/access-key?key=${made.accessKey}`));
    expect(shown).toMatchObject({ narrowed: true, ownerPolicies: ['readwrite'] });
    expect(shown.policy?.content).toMatchObject([{ actions: { patterns: ['s3:GetObject'] } }]);
  });

  it('can be created by federated users, and outlive their session', async () => {
    const alice = new TestBrowser(console.url);
    await alice.signInBy('DEMO', 'alice', 'alice-password');
    const made = await create(alice);
    expect(await listOf(alice)).toMatchObject([
      { accessKey: made.accessKey, owner: { kind: 'federated', name: 'alice', provider: 'DEMO' }, own: true },
      { kind: 'temporary', current: true },
    ]);
    await alice.send('POST', '/api/sign-out');
    const program = await signedIn(made);
    expect((await program.send('GET', '/api/buckets')).status).toBe(200);
  });

  it('are changed: disabled, renamed, with an expiration, restricted', async () => {
    const { accessKey } = await create(ann, { name: 'old' });
    const change = (form: object) => ann.send('PUT', `/api/access-key?key=${accessKey}`, { json: form });
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    expect((await change({ status: 'disabled', name: 'new', expires, policy: reader })).status).toBe(204);
    expect(await listOf(ann)).toMatchObject([{ status: 'disabled', name: 'new', expires, narrowed: true }]);
    expect((await change({ name: null, expires: null, policy: null })).status).toBe(204);
    const [key] = await listOf(ann);
    expect(key).not.toHaveProperty('name');
    expect(key).not.toHaveProperty('expires');
    expect(key).toMatchObject({ narrowed: false });
  });

  it('are shown as expired after their expiration', async () => {
    await create(ann, { expires: new Date(Date.now() + 60_000).toISOString() });
    console.advance(120_000);
    expect(await listOf(ann)).toMatchObject([{ status: 'expired' }]);
  });

  it.each([
    [{ expires: '2020-01-01T00:00:00Z' }, 'expires'],
    [{ expires: 'tomorrow' }, 'expires'],
    [{ policy: '{"Version":"2012-10-17","Statement":[{"Effect":"Maybe"}]}' }, 'policy'],
    [{ secretKey: 'short' }, 'secretKey'],
  ])('are refused with the field that is wrong: %j', async (form, field) => {
    expect(await error(await ann.send('POST', '/api/access-keys', { json: form }))).toMatchObject({
      status: 400,
      field,
    });
  });

  it('are deleted, and refused from then on', async () => {
    const made = await create(ann);
    const program = await signedIn(made);
    expect((await ann.send('DELETE', `/api/access-key?key=${made.accessKey}`)).status).toBe(204);
    expect((await program.send('GET', '/api/session')).status).toBe(401);
    // As for the key of another user.
    expect((await ann.send('GET', `/api/access-key?key=${made.accessKey}`)).status).toBe(403);
  });

  it('that are temporary are revoked, with their session', async () => {
    const alice = new TestBrowser(console.url);
    await alice.signInBy('DEMO', 'alice', 'alice-password');
    const [temporary] = await listOf(alice);
    expect((await alice.send('DELETE', `/api/access-key?key=${temporary?.accessKey}`)).status).toBe(204);
    const after = await alice.send('GET', '/api/buckets');
    expect(after.status).toBe(401);
  });
});

describe('access keys of others', () => {
  it('are not listed, changed or created without the right', async () => {
    const bob = await user('bob', ['readwrite']);
    const { accessKey } = await create(ann);
    const rejected = async (method: string, path: string, body?: object) =>
      (await error(await bob.send(method, path, body === undefined ? {} : { json: body }))).status;
    expect(await rejected('GET', `/api/access-key?key=${accessKey}`)).toBe(403);
    expect(await rejected('PUT', `/api/access-key?key=${accessKey}`, { status: 'disabled' })).toBe(403);
    expect(await rejected('DELETE', `/api/access-key?key=${accessKey}`)).toBe(403);
    expect(await rejected('POST', '/api/access-keys', { owner: 'ann' })).toBe(403);
    expect(await listOf(bob)).toEqual([]);
  });

  it('are listed, searched by owner, and created by administrators', async () => {
    await user('bob', ['readwrite']);
    await create(root, { owner: 'ann', name: 'by-root' });
    await create(root, { owner: 'bob' });
    expect(await listOf(root, '?of=all')).toHaveLength(2);
    expect(await listOf(root, '?of=all&contains=ann')).toMatchObject([
      { owner: { name: 'ann' }, own: false, name: 'by-root' },
    ]);
    expect(await listOf(ann)).toMatchObject([{ name: 'by-root', own: true }]);
    expect(await error(await root.send('POST', '/api/access-keys', { json: { owner: 'nobody' } }))).toMatchObject({
      status: 404,
    });
  });

  it('of root are changed by root alone, whatever a policy allows', async () => {
    const adam = await user('adam', ['consoleAdmin']);
    const { accessKey } = await create(root);
    expect((await adam.send('POST', '/api/access-keys', { json: { owner: 'root' } })).status).toBe(403);
    expect((await adam.send('PUT', `/api/access-key?key=${accessKey}`, { json: { policy: null } })).status).toBe(403);
    expect((await adam.send('DELETE', `/api/access-key?key=${accessKey}`)).status).toBe(403);
  });
});

describe('restricted credentials', () => {
  it('own nothing, and create no key with more rights', async () => {
    const program = await signedIn(await create(ann, { policy: reader }));
    expect((await program.send('GET', '/api/access-keys')).status).toBe(403);
    expect((await program.send('POST', '/api/access-keys', { json: {} })).status).toBe(403);
  });

  it('pass their restriction on to the keys that they create', async () => {
    const adam = await user('adam', ['consoleAdmin']);
    const policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: ['admin:CreateServiceAccount', 'admin:ListServiceAccounts'] }],
    });
    const program = await signedIn(await create(adam, { policy }));
    await create(program);
    const keys = await listOf(adam);
    expect(keys.map(({ narrowed }) => narrowed)).toEqual([true, true]);
    expect((await program.send('POST', '/api/access-keys', { json: { policy: reader } })).status).toBe(400);
  });
});
