import { describe, expect, it } from 'vitest';
import { adminTest } from '../../../test/support/admin/admin.ts';
import type { Diagnostics } from '../../administration/diagnostics.ts';
import type { SiteContents, SiteReplication } from '../../administration/sites.ts';

const sites = ['a', 'b'].map((name) => ({
  name,
  endpoint: `http://${name}:9000`,
  deploymentId: `id-of-${name}`,
  bandwidthLimit: 0,
}));
const shown = { self: 'id-of-a', sites, account: 'site-replicator-0', replicateIlmExpiry: false };

type Items = Readonly<Record<string, Readonly<Record<string, string>>>>;

function contentsOf(...items: readonly (Items | undefined)[]): SiteContents {
  const contents = items.map((of, at) => {
    const kinds = of && Object.entries(of).map(([kind, names]) => [kind, new Map(Object.entries(names))] as const);
    return [sites[at]?.deploymentId ?? '', kinds && new Map(kinds)] as const;
  });
  return { ...shown, contents: new Map(contents) };
}

/** The admin API of a site, with what it was asked to do. */
async function siteTest(more: Partial<SiteReplication> = {}) {
  const done: unknown[] = [];
  const note =
    (what: string) =>
    (...given: readonly unknown[]) =>
      Promise.resolve(void done.push([what, ...given]));
  const peer = { join: note('join'), edit: note('peer edit'), leave: note('leave') };
  const answers = {
    describe: () => Promise.resolve({ coffer: '1' }),
    digest: () => Promise.resolve({ digest: 'd' }),
    index: () => Promise.resolve({ items: [] }),
    speed: (durationMs: number) => Promise.resolve({ sent: [{ deploymentId: 'id-of-a', bytesPerSecond: durationMs }] }),
    items: () => Promise.resolve({ items: [{ kind: 'user', name: 'ann', value: { secretKey: 'a-secret' } }] }),
  };
  const service: SiteReplication = {
    shown: () => Promise.resolve(shown),
    add: note('add'),
    edit: note('edit'),
    remove: () => Promise.resolve([]),
    contents: () => Promise.resolve(contentsOf({}, {})),
    startResync: (site) => Promise.resolve({ id: `resync of ${site}`, buckets: [{ bucket: 'photos' }] }),
    cancelResync: () => Promise.resolve({ id: 'R', buckets: [{ bucket: 'photos', error: 'changed' }] }),
    resync: () => Promise.resolve(undefined),
    speed: (durationMs) =>
      Promise.resolve([
        {
          name: 'a',
          endpoint: 'http://a:9000',
          sentPerSecond: 5.4,
          receivedPerSecond: 7,
          durationMs,
          connections: 4,
          error: 'b: it is away',
        },
      ]),
    peer: { ...peer, ...answers },
    ...more,
  };
  const tasks: string[] = [];
  const diagnostics = {
    exclusively: <T>(task: string, _maxMs: number, work: () => Promise<T>) => {
      tasks.push(task);
      return work();
    },
  } as Partial<Diagnostics> as Diagnostics;
  const test = await adminTest({ services: { sites: service, diagnostics } });
  await test.identities.putPolicy(
    'all-of-admin',
    JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: ['admin:*'] }] }),
  );
  await test.identities.putUser({ accessKey: 'admin', secretKey: 'admin-password' });
  await test.identities.attach({ kind: 'user', name: 'admin' }, ['all-of-admin']);
  await test.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  return { ...test, done, tasks };
}

const newSite = (name: string, endpoints = `http://${name}:9000/`) => ({
  name,
  endpoints,
  accessKey: 'root',
  secretKey: 'password',
});
const plain = (value: object) => ({ plain: JSON.stringify(value) });

describe('the admin API of sites', () => {
  it('says that a server is no site', async () => {
    const { call } = await siteTest({
      shown: () => Promise.resolve(undefined),
      contents: () => Promise.resolve(undefined),
    });
    expect((await call('root', 'GET', 'site-replication/info')).value).toMatchObject({ enabled: false, sites: null });
    expect((await call('root', 'GET', 'site-replication/status')).value).toMatchObject({ Enabled: false });
    const without = await adminTest();
    expect((await without.call('root', 'GET', 'site-replication/info')).value).toMatchObject({ enabled: false });
    expect(await without.call('root', 'PUT', 'site-replication/remove', plain({ all: true }))).toMatchObject({
      status: 409,
    });
  });

  it('shows the sites without their secret', async () => {
    const { call } = await siteTest();
    expect((await call('root', 'GET', 'site-replication/info')).value).toMatchObject({
      enabled: true,
      name: 'a',
      serviceAccountAccessKey: 'site-replicator-0',
      sites: [{ name: 'a', endpoint: 'http://a:9000', deploymentID: 'id-of-a' }, { name: 'b' }],
    });
  });

  it('adds sites by their origins', async () => {
    const { call, done } = await siteTest();
    const sent = { sealed: [newSite('a'), newSite('b', 'https://b')] };
    expect(await call('root', 'PUT', 'site-replication/add?replicateILMExpiry=true', sent)).toMatchObject({
      status: 200,
      value: { success: true },
    });
    expect(done).toMatchObject([['add', [{ endpoint: 'http://a:9000' }, { endpoint: 'https://b' }], true]]);
  });

  it.each(['http://a/path', 'ftp://a', 'a:9000', 'http://user@a', 'http://a?b=c'])(
    'refuses the endpoint %s',
    async (endpoint) => {
      const { call, done } = await siteTest();
      const { status } = await call('root', 'PUT', 'site-replication/add', {
        sealed: [newSite('a'), newSite('b', endpoint)],
      });
      expect({ status, done }).toEqual({ status: 400, done: [] });
    },
  );

  it('changes a site, and refuses what it would not do', async () => {
    const { call, done } = await siteTest();
    const edit = (sealed: object, query = '') => call('root', 'PUT', `site-replication/edit${query}`, { sealed });
    await edit({ deploymentID: 'id-of-b', endpoint: 'http://c:9000', sync: 'disable' });
    await edit({}, '?enableILMExpiryReplication=true');
    expect(done).toMatchObject([
      ['edit', { deploymentId: 'id-of-b', endpoint: 'http://c:9000' }],
      ['edit', { replicateIlmExpiry: true }],
    ]);
    expect(await edit({ deploymentID: 'id-of-b', sync: 'enable' })).toMatchObject({ status: 501 });
    const slow = { deploymentID: 'id-of-b', defaultbandwidth: { bandwidthLimitPerBucket: 5, set: true } };
    expect(await edit(slow)).toMatchObject({ status: 400 });
    expect(await edit({ deploymentID: 'id-of-b', endpoints: 'http://d:9000' })).toMatchObject({ status: 400 });
    expect(done).toHaveLength(2);
  });

  it('says which sites a removal did not reach', async () => {
    const { call } = await siteTest({ remove: () => Promise.resolve(['The site b cannot be reached.']) });
    const { value } = await call('root', 'PUT', 'site-replication/remove', plain({ all: true }));
    expect(value).toMatchObject({
      status: 'Some site(s) could not be removed from cluster replication configuration.',
      errorDetail: 'The site b cannot be reached.',
    });
    const none = await call('root', 'PUT', 'site-replication/remove', plain({ sites: [] }));
    expect(none).toMatchObject({ status: 400 });
  });

  it('starts and cancels a resync', async () => {
    const { call } = await siteTest();
    const resync = (operation: string) =>
      call('root', 'PUT', `site-replication/resync/op?operation=${operation}`, plain({ deploymentID: 'id-of-b' }));
    expect((await resync('start')).value).toMatchObject({ op: 'start', id: 'resync of id-of-b', status: 'success' });
    expect((await resync('cancel')).value).toMatchObject({ status: 'failed', errorDetail: 'photos: changed' });
    expect(await resync('pause')).toMatchObject({ status: 400 });
  });
});

describe('the calls of other sites', () => {
  it('encrypts the values, which have secrets', async () => {
    const { call } = await siteTest();
    const { bytes, value } = await call('root', 'PUT', 'site-replication/peer/items', plain({ keys: [] }));
    expect(bytes.toString('latin1')).not.toContain('a-secret');
    expect(value).toMatchObject({ items: [{ value: { secretKey: 'a-secret' } }] });
  });

  it.each(['peer/digest', 'peer/index'])(
    'encrypts what %s says, so that nobody on the way can forge it',
    async (path) => {
      const { call } = await siteTest();
      const { bytes, value } = await call('root', 'GET', `site-replication/${path}`);
      expect(bytes.toString('latin1')).not.toMatch(/digest|items/);
      expect(value).toEqual(path === 'peer/digest' ? { digest: 'd' } : { items: [] });
    },
  );

  it.each([
    ['PUT', 'add', { sealed: [] }],
    ['PUT', 'edit', { sealed: {} }],
    ['PUT', 'peer/join', { sealed: {} }],
    ['PUT', 'peer/edit', { sealed: {} }],
    ['PUT', 'peer/items', plain({ keys: [] })],
  ])('takes root for %s %s, not another administrator', async (method, path, sent) => {
    const { call, done } = await siteTest();
    expect(await call('admin', method, `site-replication/${path}`, sent)).toMatchObject({
      status: 403,
      value: { Code: 'AccessDenied' },
    });
    expect(done).toEqual([]);
  });

  it.each([
    ['PUT', 'add'],
    ['GET', 'info'],
    ['GET', 'status'],
    ['PUT', 'edit'],
    ['PUT', 'remove'],
    ['PUT', 'resync/op?operation=start'],
    ['GET', 'peer/describe'],
    ['PUT', 'peer/join'],
    ['PUT', 'peer/edit'],
    ['PUT', 'peer/remove'],
    ['GET', 'peer/digest'],
    ['GET', 'peer/index'],
    ['PUT', 'peer/items'],
  ])('refuses %s %s to a caller without rights', async (method, path) => {
    const { call, done } = await siteTest();
    expect(await call('ann', method, `site-replication/${path}`)).toMatchObject({ status: 403 });
    expect(done).toEqual([]);
  });
});

async function statusOf(contents: SiteContents, query = '?buckets=true&users=true&groups=true&policies=true') {
  const { call } = await siteTest({ contents: () => Promise.resolve(contents) });
  return (await call('root', 'GET', `site-replication/status${query}`)).value as Record<string, object>;
}
const user = { user: { ann: '1' }, attachment: { '["user","ann"]': '2' } };

describe('the status of sites', () => {
  it('has counts and no differences where all is in step', async () => {
    const items = { ...user, bucket: { photos: '1' }, 'bucket-tags': { photos: '2' }, policy: { p: '3' } };
    expect(await statusOf(contentsOf(items, items))).toMatchObject({
      Enabled: true,
      MaxBuckets: 1,
      MaxUsers: 1,
      MaxPolicies: 1,
      MaxGroups: 0,
      BucketStats: {},
      UserStats: {},
      PolicyStats: {},
      StatsSummary: {
        'id-of-b': { ReplicatedBuckets: 1, TotalBucketsCount: 1, ReplicatedTags: 1, ReplicatedUsers: 1 },
      },
    });
  });

  it('shows what differs, and where', async () => {
    const mine = { ...user, bucket: { photos: '1' }, 'bucket-tags': { photos: 'red' } };
    const theirs = { user: { ann: 'other' }, bucket: { photos: '1' }, 'bucket-tags': { photos: 'blue' } };
    expect(await statusOf(contentsOf(mine, theirs))).toMatchObject({
      BucketStats: { photos: { 'id-of-a': { HasBucket: true, TagMismatch: true, PolicyMismatch: false } } },
      UserStats: {
        ann: {
          'id-of-a': { HasUser: true, UserInfoMismatch: true, PolicyMismatch: true, HasPolicyMapping: true },
          'id-of-b': { HasUser: true, UserInfoMismatch: true, HasPolicyMapping: false },
        },
      },
      StatsSummary: { 'id-of-a': { ReplicatedUsers: 0, TotalUsersCount: 1, ReplicatedTags: 0 } },
    });
  });

  it('has nothing of a site that is away', async () => {
    expect(await statusOf(contentsOf({ bucket: { photos: '1' } }, undefined))).toMatchObject({
      BucketStats: { photos: { 'id-of-a': { HasBucket: true }, 'id-of-b': { HasBucket: false } } },
      Metrics: { replMetrics: { 'id-of-b': { isOnline: false } } },
    });
  });

  it('has one entity where it is asked for one, and nothing of the others', async () => {
    const items = { ...user, bucket: { photos: '1' } };
    const status = await statusOf(contentsOf(items, items), '?entity=user&entityvalue=ann');
    expect(status).toMatchObject({
      UserStats: { ann: { 'id-of-a': { HasUser: true } } },
      BucketStats: {},
      MaxUsers: 1,
    });
  });
});

describe('the connections between sites', () => {
  it('are measured as mc support perf site-replication asks, once at a time', async () => {
    const { call, answer, tasks } = await siteTest();
    const { body } = await answer('root', 'POST', 'speedtest/site?duration=2s');
    if (body.kind !== 'endless') throw new Error(`the answer is ${body.kind}`);
    let text = '';
    for await (const chunk of body.chunks(new AbortController().signal)) text += chunk.toString();
    expect(JSON.parse(text)).toEqual({
      nodeResults: [
        {
          endpoint: 'http://a:9000',
          tx: 5,
          txTotalDuration: 2e9,
          rx: 7,
          rxTotalDuration: 2e9,
          totalConn: 4,
          error: 'b: it is away',
        },
      ],
    });
    expect((await call('root', 'GET', 'site-replication/peer/speed?duration=90000')).value).toEqual({
      sent: [{ deploymentId: 'id-of-a', bytesPerSecond: 30_000 }],
    });
    expect(tasks).toEqual(['speed test', 'speed test']);
    expect(await call('root', 'POST', 'site-replication/peer/devnull', { plain: 'x'.repeat(9) })).toMatchObject({
      status: 200,
      bytesRead: 9,
    });
  });

  it('are none of a server that is no site, which says so', async () => {
    const { call } = await siteTest({ shown: () => Promise.resolve(undefined) });
    expect(await call('root', 'POST', 'speedtest/site')).toMatchObject({
      status: 501,
      value: { Code: 'NotImplemented', Message: expect.stringContaining('no other site') as string },
    });
  });

  it.each([
    ['POST', 'speedtest/site'],
    ['GET', 'site-replication/peer/speed'],
    ['POST', 'site-replication/peer/devnull'],
  ])('need a right: %s %s', async (method, target) => {
    const { call } = await siteTest();
    expect(await call('ann', method, target)).toMatchObject({ status: 403 });
  });
});
