import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MemorySite, memorySites } from '../../test/support/sites/memory-sites.ts';
import { put } from '../../test/support/objects/test-layer.ts';
import { siteAccount } from './site-state.ts';

/** Two sites that are sites of each other. */
async function twoSites() {
  const world = await memorySites('a', 'b');
  const [a, b] = world.sites;
  await a.sites.add([a.asNew, b.asNew], false);
  await world.settle();
  return { ...world, a, b };
}

const reading = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::photos/*'] }],
});

describe('sites of each other', () => {
  it('share policies, users, groups, attachments and access keys with their secrets', async () => {
    const { a, b, settle } = await twoSites();
    await a.identities.putPolicy('reading', reading);
    await a.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    await a.identities.addMembers('people', ['ann']);
    await a.identities.setAttached({ kind: 'group', name: 'people' }, ['reading']);
    await a.identities.setAttached({ kind: 'ldap-user', name: 'uid=ben,dc=x' }, ['readwrite']);
    await a.identities.createServiceAccount({
      subject: { kind: 'user', name: 'ann' },
      accessKey: 'key-of-ann',
      secretKey: 'secret-of-the-key',
      description: 'backups',
    });
    await settle();
    expect(await b.identities.user('ann')).toMatchObject({ secretKey: 'ann-password', status: 'enabled' });
    expect(await b.identities.policiesOf({ kind: 'user', name: 'ann' })).toEqual(['reading']);
    expect(await b.identities.attached({ kind: 'ldap-user', name: 'uid=ben,dc=x' })).toEqual(['readwrite']);
    expect(await b.identities.serviceAccount('key-of-ann')).toMatchObject({
      secretKey: 'secret-of-the-key',
      description: 'backups',
    });
  });

  it('keep the access keys of their root users to themselves', async () => {
    const { a, b, settle } = await twoSites();
    await a.identities.createServiceAccount({ subject: { kind: 'root' }, accessKey: 'key-of-root' });
    await settle();
    expect(await b.identities.serviceAccount('key-of-root')).toBeUndefined();
  });

  it('share changes and removals of both, and end sessions of removed users', async () => {
    const { a, b, settle } = await twoSites();
    await a.identities.putPolicy('reading', reading);
    await a.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    await a.identities.addMembers('people', ['ann']);
    await a.identities.attach({ kind: 'user', name: 'ann' }, ['reading']);
    await settle();
    await b.identities.putUser({ accessKey: 'ann', status: 'disabled' });
    await b.identities.setGroupStatus('people', 'disabled');
    await settle();
    expect(await a.identities.user('ann')).toMatchObject({ status: 'disabled' });
    expect(await a.identities.group('people')).toMatchObject({ status: 'disabled', members: ['ann'] });
    await b.identities.removeUser('ann');
    await b.identities.removeGroup('people');
    await b.identities.removePolicy('reading');
    await settle();
    expect(await a.identities.user('ann')).toBeUndefined();
    expect(await a.identities.group('people')).toBeUndefined();
    expect((await a.identities.policy('reading'))?.stored).toBeUndefined();
    expect(a.revoked).toEqual(['user:ann']);
  });

  it('share buckets with versions, and their settings', async () => {
    const { a, b, settle } = await twoSites();
    await a.layer.createBucket('photos', { location: 'us-east-1', objectLock: true });
    await a.layer.putBucketTags('photos', { colour: 'red' });
    await a.layer.putBucketQuota('photos', 1_000_000);
    await a.layer.putObjectLockConfiguration('photos', { defaultRetention: { mode: 'GOVERNANCE', days: 3 } });
    await a.layer.putBucketCors('photos', [{ origins: ['*'], methods: ['GET'], headers: [], exposed: [] }]);
    await a.layer.createBucket('plain', { location: 'us-east-1' });
    await settle();
    expect((await b.layer.listBuckets()).map(({ name }) => name)).toEqual(['photos', 'plain']);
    expect(await b.layer.getBucketTags('photos')).toEqual({ colour: 'red' });
    expect(await b.layer.getBucketCors('photos')).toMatchObject([{ origins: ['*'], methods: ['GET'] }]);
    expect(await b.layer.getBucketQuota('photos')).toMatchObject({ bytes: 1_000_000 });
    expect(await b.layer.getObjectLockConfiguration('photos')).toEqual({
      defaultRetention: { mode: 'GOVERNANCE', days: 3 },
    });
    for (const { layer } of [a, b]) {
      expect(await layer.getBucketVersioning('plain')).toEqual({ status: 'Enabled' });
    }
    await b.layer.deleteBucketTags('photos');
    await settle();
    expect(await a.layer.getBucketTags('photos')).toBeUndefined();
  });

  it('make a rule with a target and a resync for each bucket, and make it again', async () => {
    const { a, b, settle, advance } = await twoSites();
    await a.layer.createBucket('photos', { location: '' });
    await settle();
    for (const [site, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const rules = (await site.layer.getBucketReplication('photos'))?.rules ?? [];
      expect(rules).toMatchObject([{ id: `site-repl-${other.self}`, deletes: true, existingObjects: true }]);
      const [stored] = await site.targets.ofBucket('photos');
      expect(stored?.target).toMatchObject({
        arn: rules[0]?.target,
        endpoint: `${other.name}:9000`,
        accessKey: siteAccount,
        site: other.self,
        resync: { before: expect.any(Number) as number },
      });
    }
    await a.layer.putBucketReplication('photos', undefined);
    advance(60_000);
    await settle();
    expect((await a.layer.getBucketReplication('photos'))?.rules).toHaveLength(1);
    expect(await a.targets.ofBucket('photos')).toHaveLength(1);
  });

  it('make the account again that they call each other with', async () => {
    const { a, b, settle, advance } = await twoSites();
    await b.identities.removeServiceAccount(siteAccount);
    advance(60_000);
    await settle();
    await a.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    await settle(12);
    expect(await b.identities.user('ann')).toBeDefined();
    expect(await b.identities.serviceAccount(siteAccount)).toMatchObject({ subject: { kind: 'root' } });
  });

  it('remove a bucket that one of them removed, unless it is not empty: then it comes back', async () => {
    const { a, b, settle, advance } = await twoSites();
    await a.layer.createBucket('empty', { location: '' });
    await a.layer.createBucket('full', { location: '' });
    await a.layer.putBucketTags('full', { colour: 'red' });
    await settle();
    await b.layer.putObject(put('full', 'x', 'only on b'));
    await a.layer.deleteBucket('empty');
    await a.layer.deleteBucket('full');
    await settle();
    expect((await b.layer.listBuckets()).map(({ name }) => name)).toEqual(['full']);
    expect(await b.layer.getBucketTags('full')).toEqual({ colour: 'red' });
    advance(11 * 60_000);
    await settle(12);
    expect((await a.layer.listBuckets()).map(({ name }) => name)).toEqual(['full']);
    expect(await a.layer.getBucketTags('full')).toEqual({ colour: 'red' });
  });

  it('take the later of two changes that were made apart', async () => {
    const { a, b, settle, advance } = await twoSites();
    await a.layer.createBucket('photos', { location: '' });
    await settle();
    b.isAway = true;
    await b.layer.putBucketTags('photos', { by: 'b' });
    await a.identities.putUser({ accessKey: 'ann', secretKey: 'made-on-the-first' });
    advance(5_000);
    await a.layer.putBucketTags('photos', { by: 'a' });
    await b.identities.putUser({ accessKey: 'ann', secretKey: 'made-on-the-second' });
    await settle();
    expect(a.log.map(({ message }) => message)).toContain('the site cannot be asked for its changes');
    b.isAway = false;
    advance(6_000);
    await settle(8);
    for (const site of [a, b]) {
      expect(await site.layer.getBucketTags('photos')).toEqual({ by: 'a' });
      expect((await site.identities.user('ann'))?.secretKey).toBe('made-on-the-second');
    }
    const [ofA, ofB] = await Promise.all([a.ledger.digest(), b.ledger.digest()]);
    expect(ofA).toBe(ofB);
  });

  it('settle, and then change nothing', async () => {
    const { a, b, settle } = await twoSites();
    await a.layer.createBucket('photos', { location: '' });
    await b.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    await settle(8);
    const before = await Promise.all([a, b].map((site) => site.ledger.read()));
    await settle(8);
    expect(await Promise.all([a, b].map((site) => site.ledger.read()))).toEqual(before);
  });

  it('share lifecycle rules where they are asked to', async () => {
    const { a, b, settle } = await twoSites();
    const rule = { id: 'old', enabled: true, filter: { prefix: '' }, expiration: { days: 7 } } as const;
    await a.layer.createBucket('photos', { location: '' });
    await a.layer.putBucketLifecycle('photos', [rule]);
    await settle();
    expect(await b.layer.getBucketLifecycle('photos')).toBeUndefined();
    await a.sites.edit({ replicateIlmExpiry: true });
    await settle(8);
    expect(await b.layer.getBucketLifecycle('photos')).toMatchObject([{ id: 'old', expiration: { days: 7 } }]);
  });

  it('share the smallest object of lifecycle transitions with the rules', async () => {
    const { a, b, settle } = await twoSites();
    const rule = {
      id: 'old',
      enabled: true,
      filter: { prefix: 'a/' },
      expiration: { days: 7 },
      largeOnly: true,
    } as const;
    await a.layer.createBucket('photos', { location: '' });
    await a.layer.putBucketLifecycle('photos', [rule]);
    await a.sites.edit({ replicateIlmExpiry: true });
    await settle(8);
    expect(await b.layer.getBucketLifecycle('photos')).toEqual([rule]);
  });

  it.each([{ endpoint: 'http://elsewhere:9000' }, { bandwidthLimit: 200_000_000 }])(
    'refuse a change of %j without the site that it is for',
    async (change) => {
      const { a } = await twoSites();
      await expect(a.sites.edit(change)).rejects.toThrow('Name the site by its deployment id');
    },
  );

  it('leave: rules, targets and the account go, buckets and users stay', async () => {
    const { a, b, settle } = await twoSites();
    await a.layer.createBucket('photos', { location: '' });
    await settle();
    b.isAway = true;
    expect(await a.sites.remove('all')).toHaveLength(1);
    expect(await a.sites.shown()).toBeUndefined();
    expect(await a.layer.getBucketReplication('photos')).toBeUndefined();
    await settle();
    expect(await a.identities.serviceAccount(siteAccount)).toBeUndefined();
    expect(await a.targets.all()).toEqual([]);
    expect(await a.layer.getBucketReplication('photos')).toBeUndefined();
    expect(await a.layer.listBuckets()).toHaveLength(1);
    expect((await a.ledger.read()).size).toBe(0);
  });
});

describe('a group of three sites', () => {
  it('takes over a change that was made while one was away, and lets a removed one leave', async () => {
    const world = await memorySites('a', 'b', 'c');
    const [a, b, c] = world.sites;
    if (c === undefined) throw new Error('there are three');
    await a.sites.add([a.asNew, b.asNew, c.asNew], false);
    await a.layer.createBucket('photos', { location: '' });
    await world.settle();
    expect((await c.layer.getBucketReplication('photos'))?.rules).toHaveLength(2);
    [b.isAway, c.isAway] = [true, true];
    expect(await a.sites.remove(['c'])).toHaveLength(2);
    world.advance(10_000);
    await world.settle();
    [b.isAway, c.isAway] = [false, false];
    world.advance(10_000);
    await world.settle(8);
    expect((await b.sites.shown())?.sites.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await c.sites.shown()).toBeUndefined();
    expect(await c.targets.all()).toEqual([]);
    expect((await b.layer.getBucketReplication('photos'))?.rules).toHaveLength(1);
  });

  it('does not begin where one of them cannot join', async () => {
    const world = await memorySites('a', 'b', 'c');
    const [a, b, c] = world.sites;
    if (c === undefined) throw new Error('there are three');
    await expect(a.sites.add([a.asNew, b.asNew, { ...c.asNew, secretKey: 'wrong' }], false)).rejects.toThrow('site c');
    await world.settle();
    for (const site of world.sites) {
      expect(await site.sites.shown()).toBeUndefined();
      expect(await site.identities.serviceAccount(siteAccount)).toBeUndefined();
    }
  });
});

describe('sites that change the same things apart', () => {
  const name = fc.constantFrom('ann', 'ben');
  const bucket = fc.constantFrom('photos', 'films');
  const text = fc.constantFrom('one', 'two', 'three');
  const step = fc.oneof(
    fc.record({ what: fc.constant('put user' as const), name, text }),
    fc.record({ what: fc.constant('remove user' as const), name }),
    fc.record({ what: fc.constant('add to a group' as const), name }),
    fc.record({ what: fc.constant('attach' as const), name }),
    fc.record({ what: fc.constant('make bucket' as const), bucket }),
    fc.record({ what: fc.constant('remove bucket' as const), bucket }),
    fc.record({ what: fc.constant('tag' as const), bucket, text }),
    fc.record({ what: fc.constant('untag' as const), bucket }),
    fc.record({ what: fc.constant('away or back' as const) }),
    fc.record({ what: fc.constant('settle' as const) }),
  );
  type Step = (typeof step extends fc.Arbitrary<infer Value> ? Value : never) & { readonly at: number };

  async function change({ identities, layer }: MemorySite, one: Step): Promise<void> {
    const user = 'name' in one ? one.name : '';
    const of = 'bucket' in one ? one.bucket : '';
    const value = 'text' in one ? one.text : '';
    switch (one.what) {
      case 'put user':
        await identities.putUser({ accessKey: user, secretKey: `secret-${value}` });
        return;
      case 'remove user':
        await identities.removeUser(user);
        return;
      case 'add to a group':
        await identities.addMembers('people', [user]);
        return;
      case 'attach':
        await identities.setAttached({ kind: 'user', name: user }, ['readonly']);
        return;
      case 'make bucket':
        return layer.createBucket(of, { location: 'us-east-1' });
      case 'remove bucket':
        return layer.deleteBucket(of);
      case 'tag':
        return layer.putBucketTags(of, { value });
      case 'untag':
        return layer.deleteBucketTags(of);
      case 'away or back':
      case 'settle':
        return undefined;
      default:
        return one satisfies never;
    }
  }

  it('are the same in the end, and stay so', { timeout: 600_000 }, async () => {
    const steps = fc.array(
      fc.tuple(step, fc.integer({ min: 0, max: 2 })).map(([one, at]): Step => ({ ...one, at })),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = await memorySites('a', 'b', 'c');
        const [first] = world.sites;
        await first.sites.add(
          world.sites.map(({ asNew }) => asNew),
          false,
        );
        await world.settle(2);
        for (const one of all) {
          const site = world.sites[one.at] ?? first;
          world.advance(10);
          if (one.what === 'away or back') site.isAway = !site.isAway;
          else if (one.what === 'settle') await world.settle(1);
          // What is not there cannot be changed.
          else await change(site, one).catch(() => undefined);
        }
        for (const site of world.sites) site.isAway = false;
        world.advance(10_000);
        await world.settle(12);
        const states = await Promise.all(world.sites.map((site) => contentsOf(site)));
        expect(states[1]).toEqual(states[0]);
        expect(states[2]).toEqual(states[0]);
        const ledgers = () => Promise.all(world.sites.map(({ ledger }) => ledger.read()));
        const before = await ledgers();
        await world.settle(3);
        expect(await ledgers()).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });
});

async function contentsOf({ identities, layer }: MemorySite): Promise<unknown> {
  const users = [];
  for await (const { accessKey, secretKey, status } of identities.users()) {
    users.push([accessKey, secretKey, status, await identities.policiesOf({ kind: 'user', name: accessKey })]);
  }
  const groups = [];
  for await (const { name, members } of identities.groups()) groups.push([name, members.toSorted()]);
  const buckets = await Promise.all(
    (await layer.listBuckets()).map(async ({ name }) => [
      name,
      await layer.getBucketTags(name),
      await layer.getBucketVersioning(name),
      (await layer.getBucketReplication(name))?.rules.length,
    ]),
  );
  return { users, groups, buckets };
}
