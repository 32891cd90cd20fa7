import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SealedRecordStore } from '../../encryption/sealed-records.ts';
import type { Identities } from './identities.ts';
import { openIdentities, RevisionCache } from './open-identities.ts';
import { identityKeys } from './records.ts';
import { ownerOf } from './subject.ts';
import { federated, testIdentities } from '../../../test/support/auth/identities.ts';

const reading = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::docs/*' }],
});
const writing = reading.replace('GetObject', 'PutObject');
const secretKey = 'secret-of-theirs';
const ann = { kind: 'user', name: 'ann' } as const;
const staff = { kind: 'group', name: 'staff' } as const;

let now: number;
let records: SealedRecordStore;
let identities: Identities;
/** Another thread or server over the same records. */
let other: Identities;

beforeEach(async () => {
  now = Date.UTC(2026, 0, 1);
  const clock = () => new Date(now);
  ({ records, identities } = await testIdentities({ clock }));
  other = openIdentities({ records, rootUser: 'root', staleMs: 0, clock });
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function count(): Promise<number> {
  const { identityRanges } = await import('./records.ts');
  const ranges = [
    identityRanges.users,
    identityRanges.groups,
    identityRanges.attachments,
    identityRanges.serviceAccounts,
    identityRanges.memberships('ann'),
    identityRanges.owned('user:ann'),
    identityRanges.attachedTo('readonly'),
  ];
  const found = await Promise.all(ranges.map((range) => all(records.scan(range))));
  return found.flat().length;
}

describe('a record of identities that is damaged', () => {
  const cut = Buffer.from('{"accessKey":"ann","secr');
  const without = Buffer.from('{}');
  const cure = /the record "iam user ann" is damaged.*restore the records from a snapshot or a backup/;

  it.each([
    ['cut', cut],
    ['without what it needs', without],
  ])('is named together with its cure where it is read: %s', async (_, value) => {
    await identities.putUser({ accessKey: 'bob', secretKey });
    await records.put(identityKeys.user('ann'), value);
    await expect(identities.user('ann')).rejects.toThrow(cure);
    await expect(all(identities.users())).rejects.toThrow(cure);
    expect(await identities.user('bob')).toMatchObject({ accessKey: 'bob' });
  });

  it('shows nothing of what it holds', async () => {
    await records.put(identityKeys.user('ann'), Buffer.from('hunter2"}'));
    const failure: unknown = await identities.user('ann').catch((error: unknown) => error);
    expect(inspect(failure)).toMatch(cure);
    expect(inspect(failure)).not.toContain('hunter2');
  });
});

describe('a user', () => {
  it('is found in every thread at once', async () => {
    expect(await other.user('ann')).toBeUndefined();
    await identities.putUser({ accessKey: 'ann', secretKey });
    expect(await other.user('ann')).toMatchObject({ accessKey: 'ann', secretKey, status: 'enabled', updatedAt: now });
  });

  it('has no name of the form that people of a provider have', async () => {
    const accessKey = 'J6kbvDWDOjFYTJ4ELLrWoGJ9YhSl4nGy2-zAqFbO_xM';
    const rejected = { code: 'invalid-access-key' };
    await expect(identities.putUser({ accessKey, secretKey })).rejects.toMatchObject(rejected);
    await identities.putUser({ accessKey: 'ann', secretKey });
    await expect(identities.createServiceAccount({ subject: ann, accessKey })).rejects.toMatchObject(rejected);
  });

  it('is refused where its name is an access key, and the refusal says whose', async () => {
    await identities.putUser({ accessKey: 'ann', secretKey });
    await identities.createServiceAccount({ subject: ann, accessKey: 'auditor' });
    await expect(identities.putUser({ accessKey: 'auditor', secretKey })).rejects.toMatchObject({
      code: 'access-key-in-use',
      message: expect.stringContaining('a service account of ann') as string,
    });
  });

  it('keeps the secret when only the status is set, and the status when only the secret is', async () => {
    await identities.putUser({ accessKey: 'ann', secretKey });
    await identities.putUser({ accessKey: 'ann', status: 'disabled' });
    expect(await other.user('ann')).toMatchObject({ secretKey, status: 'disabled' });
    await identities.putUser({ accessKey: 'ann', secretKey: 'another-secret' });
    expect(await other.user('ann')).toMatchObject({ secretKey: 'another-secret', status: 'disabled' });
  });

  it('is not made by a status alone', async () => {
    await expect(identities.putUser({ accessKey: 'ann', status: 'enabled' })).rejects.toMatchObject({
      code: 'no-such-user',
    });
  });

  it.each([
    '',
    'ab',
    ' ann',
    'ann ',
    'a/b/c',
    'a,b',
    'a=b',
    'ann\n',
    'ann\u0085',
    'ä'.repeat(65),
    'x'.repeat(129),
    'tls:ann',
    'custom:ann',
    'arn:aws:iam::1:user/ann',
    '\ud800nn',
  ])('cannot be called %j', async (accessKey) => {
    await expect(identities.putUser({ accessKey, secretKey })).rejects.toMatchObject({ code: 'invalid-access-key' });
  });

  it.each(['team:ann', 'dom\\bob', "O'Brien", 'user name', 'ümit', '<ann>;"x"', 'tls-ann'])(
    'can be called %j, as in a MinIO',
    async (accessKey) => {
      await identities.putUser({ accessKey, secretKey });
      await identities.addMembers('named', [accessKey]);
      expect(await other.user(accessKey)).toMatchObject({ accessKey });
      expect((await other.group('named'))?.members).toContain(accessKey);
    },
  );

  it.each(['', '1234567', 'with\nline-break', 'x'.repeat(129)])('cannot have the secret %j', async (secret) => {
    await expect(identities.putUser({ accessKey: 'ann', secretKey: secret })).rejects.toMatchObject({
      code: 'invalid-secret-key',
    });
  });

  it('cannot have the access key of root or of a service account', async () => {
    await identities.createServiceAccount({ subject: { kind: 'root' }, accessKey: 'robot' });
    for (const accessKey of ['root', 'robot']) {
      await expect(identities.putUser({ accessKey, secretKey })).rejects.toMatchObject({ code: 'access-key-in-use' });
    }
  });

  it('takes along, when removed, memberships, attachments and service accounts, and nobody else’s', async () => {
    await identities.putUser({ accessKey: 'bob', secretKey });
    const before = await count();
    await identities.putUser({ accessKey: 'ann', secretKey });
    await identities.addMembers('staff', ['ann', 'bob']);
    await identities.attach(ann, ['readonly']);
    const account = await identities.createServiceAccount({ subject: ann });
    expect(await identities.removeUser('ann')).toEqual([account.accessKey]);
    expect((await other.group('staff'))?.members).toEqual(['bob']);
    expect(await other.serviceAccount(account.accessKey)).toBeUndefined();
    expect(await other.policiesOf(ann)).toEqual([]);
    // The group that was made is left.
    expect(await count()).toBe(before + 1);
  });

  it('cannot be removed twice', async () => {
    await expect(identities.removeUser('ann')).rejects.toMatchObject({ code: 'no-such-user' });
  });
});

describe('a group', () => {
  beforeEach(async () => {
    await identities.putUser({ accessKey: 'ann', secretKey });
    await identities.addMembers('staff', ['ann']);
  });

  it('gives its members what is attached to it, as long as it is enabled', async () => {
    await identities.attach(staff, ['readonly']);
    await identities.attach(ann, ['diagnostics']);
    expect(await other.policiesOf(ann)).toEqual(['diagnostics', 'readonly']);
    await identities.setGroupStatus('staff', 'disabled');
    expect(await other.policiesOf(ann)).toEqual(['diagnostics']);
    await identities.setGroupStatus('staff', 'enabled');
    await identities.removeMembers('staff', ['ann']);
    expect(await other.policiesOf(ann)).toEqual(['diagnostics']);
  });

  it('takes only users that exist', async () => {
    await expect(identities.addMembers('staff', ['nobody'])).rejects.toMatchObject({ code: 'no-such-user' });
    await expect(identities.removeMembers('staff', ['nobody'])).rejects.toMatchObject({ code: 'no-such-user' });
  });

  it('is created once', async () => {
    await expect(identities.createGroup('staff', [])).rejects.toMatchObject({ code: 'group-exists' });
    expect((await other.group('staff'))?.members).toEqual(['ann']);
  });

  it('keeps members that another change added and removed meanwhile', async () => {
    for (const accessKey of ['bob', 'carl']) await identities.putUser({ accessKey, secretKey });
    await Promise.all([
      identities.changeMembers('staff', { add: ['bob'], remove: ['ann'] }),
      other.changeMembers('staff', { add: ['carl'], remove: ['ann'] }),
    ]);
    expect((await other.group('staff'))?.members.toSorted()).toEqual(['bob', 'carl']);
    expect(await other.groupsOf('ann')).toEqual([]);
    expect(await other.groupsOf('bob')).toMatchObject([{ name: 'staff' }]);
  });

  it('is changed in part by no change that names a user or a group that does not exist', async () => {
    await expect(identities.changeMembers('staff', { add: ['nobody'], remove: ['ann'] })).rejects.toMatchObject({
      code: 'no-such-user',
    });
    await identities.createGroup('other', []);
    await expect(identities.changeGroups('ann', { add: ['other', 'x'], remove: ['staff'] })).rejects.toMatchObject({
      code: 'no-such-group',
    });
    expect(await other.groupsOf('ann')).toMatchObject([{ name: 'staff' }]);
  });

  it('is joined and left in one change', async () => {
    await identities.createGroup('other', []);
    await identities.changeGroups('ann', { add: ['other'], remove: ['staff', 'gone'] });
    expect(await other.groupsOf('ann')).toMatchObject([{ name: 'other' }]);
    expect((await other.group('staff'))?.members).toEqual([]);
  });

  it('is not removed with members in it', async () => {
    await expect(identities.removeGroup('staff')).rejects.toMatchObject({ code: 'group-not-empty' });
    await identities.removeMembers('staff', ['ann']);
    await identities.removeGroup('staff');
    expect(await other.group('staff')).toBeUndefined();
    await expect(identities.removeGroup('staff')).rejects.toMatchObject({ code: 'no-such-group' });
  });
});

describe('a policy', () => {
  it('is there when it is built in, and comes back when what replaced it is removed', async () => {
    expect(await other.policy('readonly')).toMatchObject({ name: 'readonly' });
    await identities.putPolicy('readonly', writing);
    expect((await other.policy('readonly'))?.json).toBe(writing);
    await identities.putUser({ accessKey: 'ann', secretKey });
    await identities.attach(ann, ['readonly']);
    await identities.removePolicy('readonly');
    expect((await other.policy('readonly'))?.stored).toBeUndefined();
    await expect(identities.removePolicy('readonly')).rejects.toMatchObject({ code: 'policy-built-in' });
  });

  it('is shown as a document, also where it is built in', async () => {
    expect(JSON.parse((await other.policy('readwrite'))?.json ?? '')).toEqual({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] }],
    });
  });

  it('remembers what it was, the newest first, and when it was made', async () => {
    await identities.putPolicy('p', reading);
    const made = now;
    now += 1_000;
    await identities.putPolicy('p', writing);
    expect((await other.policy('p'))?.stored).toMatchObject({
      document: writing,
      createdAt: made,
      updatedAt: now,
      earlier: [{ document: reading, updatedAt: made }],
    });
    for (let time = 0; time < 30; time += 1) await identities.putPolicy('p', reading);
    expect((await other.policy('p'))?.stored?.earlier).toHaveLength(10);
  });

  it('is refused where it is not valid, or its name is not', async () => {
    await expect(identities.putPolicy('p', '{"Statement": 1}')).rejects.toMatchObject({ code: 'MalformedPolicy' });
    for (const name of ['', ' p', 'a,b', 'x\u0000', 'x'.repeat(129)]) {
      await expect(identities.putPolicy(name, reading)).rejects.toMatchObject({ code: 'invalid-name' });
    }
  });

  it('is not removed while it is attached: the refusal says to whom', async () => {
    await identities.putUser({ accessKey: 'ann', secretKey });
    await identities.putPolicy('p', reading);
    await identities.attach(ann, ['p']);
    await expect(identities.removePolicy('p')).rejects.toThrow(/attached to the user ann; detach it first/);
    await identities.detach(ann, ['p']);
    await identities.removePolicy('p');
    expect(await other.policy('p')).toBeUndefined();
  });

  it('is listed once, replaced or built in', async () => {
    await identities.putPolicy('readonly', writing);
    await identities.putPolicy('p', reading);
    const names = (await all(other.policies())).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['consoleAdmin', 'diagnostics', 'p', 'readonly', 'readwrite', 'writeonly']);
  });
});

describe('attachments', () => {
  beforeEach(() => identities.putUser({ accessKey: 'ann', secretKey }));

  it('tell what a change changed', async () => {
    expect(await identities.attach(ann, ['readonly'])).toMatchObject({ changed: ['readonly'], policies: ['readonly'] });
    expect(await identities.attach(ann, ['readonly', 'writeonly'])).toMatchObject({
      changed: ['writeonly'],
      policies: ['readonly', 'writeonly'],
    });
    expect(await identities.detach(ann, ['readonly', 'diagnostics'])).toMatchObject({
      changed: ['readonly'],
      policies: ['writeonly'],
    });
    expect(await identities.setAttached(ann, [])).toMatchObject({ changed: ['writeonly'], policies: [] });
    expect(await all(other.attachments())).toEqual([]);
  });

  it('keep what another change added meanwhile', async () => {
    await identities.attach(ann, ['readonly']);
    await Promise.all([
      identities.changeAttached(ann, { add: ['writeonly'], remove: ['readonly'] }),
      other.changeAttached(ann, { add: ['diagnostics'], remove: ['readonly'] }),
    ]);
    expect((await other.attached(ann)).toSorted()).toEqual(['diagnostics', 'writeonly']);
  });

  it('refuse a change that changes nothing', async () => {
    await identities.attach(ann, ['readonly']);
    await expect(identities.attach(ann, ['readonly'])).rejects.toMatchObject({ code: 'nothing-to-change' });
    await expect(identities.detach(ann, ['writeonly'])).rejects.toMatchObject({ code: 'nothing-to-change' });
  });

  it('refuse policies, users and groups that do not exist', async () => {
    await expect(identities.attach(ann, ['nothing'])).rejects.toMatchObject({ code: 'no-such-policy' });
    await expect(identities.attach({ kind: 'user', name: 'x' }, ['readonly'])).rejects.toMatchObject({
      code: 'no-such-user',
    });
    await expect(identities.attach(staff, ['readonly'])).rejects.toMatchObject({ code: 'no-such-group' });
  });

  it('can be to names of a directory, which nobody here knows', async () => {
    const bob = { kind: 'ldap-user', name: 'uid=bob,dc=example' } as const;
    await identities.attach(bob, ['readonly']);
    expect(await all(other.attachedTo('readonly'))).toEqual([bob]);
    expect(await all(other.attachments('ldap-user'))).toMatchObject([{ target: bob, policies: ['readonly'] }]);
    expect(await all(other.attachments('ldap-group'))).toEqual([]);
  });

  it('to a claim count for each user with it, as they are at each request', async () => {
    const target = { kind: 'claim', provider: 'K8S', claim: 'sub', value: 'system:serviceaccount:backup:*' } as const;
    await identities.attach(target, ['readonly']);
    const sub = 'system:serviceaccount:backup:runner';
    expect(await other.claimTargets('K8S', { sub })).toEqual([target]);
    expect(await other.claimTargets('K8S', { sub: 'system:serviceaccount:other:runner' })).toEqual([]);
    expect(await other.claimTargets('K8S', { sub: ['x', sub] })).toEqual([target]);
    expect(await other.claimTargets('OTHER', { sub })).toEqual([]);
    const runner = federated({ policies: ['diagnostics'], targets: [target] });
    expect(await other.policiesOf(runner)).toEqual(['diagnostics', 'readonly']);
    await identities.detach(target, ['readonly']);
    expect(await other.policiesOf(runner)).toEqual(['diagnostics']);
  });
});

describe('a service account', () => {
  beforeEach(() => identities.putUser({ accessKey: 'ann', secretKey }));

  it('gets keys where none are given', async () => {
    const account = await identities.createServiceAccount({ subject: ann });
    expect(account.accessKey).toMatch(/^[0-9A-Z]{20}$/);
    expect(account.secretKey).toMatch(/^[0-9A-Za-z+]{40}$/);
    expect(await other.serviceAccount(account.accessKey)).toEqual(account);
  });

  it('is listed by its owner', async () => {
    const bob = federated({ parent: 'parent-of-bob' });
    const ofAnn = await identities.createServiceAccount({ subject: ann, accessKey: 'of-ann' });
    const ofBob = await identities.createServiceAccount({ subject: bob, accessKey: 'of-bob' });
    expect(await all(other.serviceAccounts(ownerOf(ann)))).toEqual([ofAnn]);
    expect(await all(other.serviceAccounts(ownerOf(bob)))).toEqual([ofBob]);
    expect(await all(other.serviceAccounts())).toEqual([ofAnn, ofBob]);
    expect(await identities.removeServiceAccountsOf(ownerOf(bob))).toEqual(['of-bob']);
    expect(await all(other.serviceAccounts())).toEqual([ofAnn]);
  });

  it('is changed in what is given, and loses what is null', async () => {
    const expiration = new Date(now + 1_000);
    await identities.createServiceAccount({ subject: ann, accessKey: 'robot', policy: reading, name: 'n', expiration });
    const described = await identities.updateServiceAccount('robot', { description: 'd', policy: null });
    expect(described).toMatchObject({ name: 'n', description: 'd', expiration: expiration.getTime() });
    expect(described.policy).toBeUndefined();
    expect(await identities.updateServiceAccount('robot', { expiration: null, status: 'disabled' })).not.toHaveProperty(
      'expiration',
    );
    expect(await other.serviceAccount('robot')).toMatchObject({ status: 'disabled', subject: ann });
  });

  it('is refused for a user that does not exist, keys that are taken, and an end in the past', async () => {
    await identities.createServiceAccount({ subject: ann, accessKey: 'robot' });
    await expect(identities.createServiceAccount({ subject: { kind: 'user', name: 'nobody' } })).rejects.toMatchObject({
      code: 'no-such-user',
    });
    for (const accessKey of ['ann', 'robot', 'root']) {
      await expect(identities.createServiceAccount({ subject: ann, accessKey })).rejects.toMatchObject({
        code: 'access-key-in-use',
      });
    }
    await expect(identities.createServiceAccount({ subject: ann, expiration: new Date(now) })).rejects.toMatchObject({
      code: 'invalid-expiration',
    });
    await expect(identities.updateServiceAccount('x'.repeat(5), {})).rejects.toMatchObject({
      code: 'no-such-service-account',
    });
  });
});

describe('changes', () => {
  it('of many at once contradict each other never', async () => {
    await identities.putUser({ accessKey: 'ann', secretKey });
    const names = ['readonly', 'writeonly', 'readwrite', 'diagnostics', 'consoleAdmin'];
    await Promise.all(names.map((name, at) => (at % 2 === 0 ? identities : other).attach(ann, [name])));
    expect((await identities.policiesOf(ann)).toSorted()).toEqual(names.toSorted());
    expect((await other.policiesOf(ann)).toSorted()).toEqual(names.toSorted());
  });

  it('cannot remove a policy while it is being attached', async () => {
    await identities.putUser({ accessKey: 'ann', secretKey });
    for (let round = 0; round < 20; round += 1) {
      await identities.putPolicy('p', reading);
      const [attached, removed] = await Promise.allSettled([identities.attach(ann, ['p']), other.removePolicy('p')]);
      expect([attached.status, removed.status].toSorted()).toEqual(['fulfilled', 'rejected']);
      if (attached.status === 'fulfilled') await identities.detach(ann, ['p']);
    }
  });
});

describe('head cache', () => {
  let revision: number | undefined;
  let looks: number;
  let loads: number;
  let time: number;
  const records = {
    revision: () => {
      looks += 1;
      return Promise.resolve(revision);
    },
  };
  const load = (value: string) => () => {
    loads += 1;
    return Promise.resolve(value);
  };
  const cache = (staleMs: number) => new RevisionCache({ records, staleMs, now: () => time });

  beforeEach(() => {
    [revision, looks, loads, time] = [1, 0, 0, 0];
  });

  describe('HeadCache', () => {
    it('loads once, as long as nothing changes', async () => {
      const known = cache(0);
      expect([await known.get('a', load('1')), await known.get('a', load('2'))]).toEqual(['1', '1']);
      expect([loads, looks]).toEqual([1, 2]);
    });

    it('loads again after any change', async () => {
      const known = cache(0);
      await known.get('a', load('1'));
      revision = 2;
      expect(await known.get('a', load('2'))).toBe('2');
    });

    it('does not keep what was read before a change for after it', async () => {
      const known = cache(0);
      const { promise, resolve } = Promise.withResolvers<string>();
      const early = known.get('a', () => promise);
      await Promise.resolve();
      revision = 2;
      expect(await known.get('b', load('b'))).toBe('b');
      resolve('old');
      expect(await early).toBe('old');
      expect(await known.get('a', load('new'))).toBe('new');
    });

    it('looks once in the time that several servers may differ', async () => {
      const known = cache(1_000);
      await known.get('a', load('1'));
      revision = 2;
      time = 999;
      expect(await known.get('a', load('2'))).toBe('1');
      time = 1_000;
      expect(await known.get('a', load('2'))).toBe('2');
      expect(looks).toBe(2);
    });

    it('remembers no failure', async () => {
      const known = cache(0);
      await expect(known.get('a', () => Promise.reject(new Error('disk')))).rejects.toThrow('disk');
      expect(await known.get('a', load('1'))).toBe('1');
    });

    it('rejects when it cannot be told whether anything changed', async () => {
      const known = new RevisionCache({ records: { revision: () => Promise.reject(new Error('away')) }, staleMs: 0 });
      await expect(known.get('a', load('1'))).rejects.toThrow('away');
    });
  });
});
