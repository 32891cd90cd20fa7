import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';
import { federated } from '../../test/support/auth/identities.ts';
import { evaluate } from '../../protocol/policy/evaluate.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { readZip, writeZip } from '../administration/zip.ts';
import { routes } from './admin-handler.ts';

type AdminTest = Awaited<ReturnType<typeof adminTest>>;
interface Written {
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource?: readonly string[];
  readonly Condition?: object;
}

const documentOf = (...Statement: readonly Written[]) => ({ Version: '2012-10-17', Statement });
const textOf = (...statements: readonly Written[]) => JSON.stringify(documentOf(...statements));
const administers: Written = { Effect: 'Allow', Action: ['admin:*'] };
const everything: Written = { Effect: 'Allow', Action: ['s3:*', 'admin:*', 'kms:*'], Resource: ['arn:aws:s3:::*'] };
const reads: Written = { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::a/*'] };

/** Ann administers all. Her key `robot` is restricted, her key `free` is not. Bob may read and write. */
async function stageOf(boundary: readonly Written[]): Promise<AdminTest> {
  const test = await adminTest({ services: { identityProviders: [providers], directory } });
  const { identities } = test;
  for (const accessKey of ['ann', 'bob', 'carl'])
    await identities.putUser({ accessKey, secretKey: `${accessKey}-secret` });
  await identities.putUser({ accessKey: 'carl', status: 'disabled' });
  await identities.putPolicy('wide', textOf(everything));
  await identities.putPolicy('narrow', textOf(reads));
  await identities.putPolicy('denies', textOf(everything, { Effect: 'Deny', Action: ['s3:Put*'], Resource: ['*'] }));
  await identities.addMembers('team', ['bob']);
  await identities.addMembers('off', ['bob']);
  await identities.setGroupStatus('off', 'disabled');
  await identities.attach({ kind: 'group', name: 'off' }, ['wide']);
  await identities.attach({ kind: 'group', name: 'team' }, ['denies']);
  await identities.attach({ kind: 'user', name: 'ann' }, ['consoleAdmin']);
  await identities.attach({ kind: 'user', name: 'bob' }, ['readwrite']);
  await identities.attach({ kind: 'user', name: 'carl' }, ['wide']);
  const add = (accessKey: string, more: object) =>
    identities.createServiceAccount({
      subject: { kind: 'user', name: 'ann' },
      accessKey,
      secretKey: `${accessKey}-secret`,
      ...more,
    });
  await add('robot', { policy: textOf(...boundary) });
  await add('free', {});
  await add('sibling', { policy: textOf(reads) });
  await add('paused', { status: 'disabled', subject: { kind: 'user', name: 'bob' } });
  await add('external', { subject: federated({ parent: 'hash-of-eve', policies: ['later'] }) });
  return test;
}

const providers = {
  subsystem: 'identity_openid',
  save: () => Promise.reject(new Error('a caller with a boundary saved a provider')),
  list: () => Promise.resolve([]),
} as never;

const directory = { find: () => Promise.resolve({ name: 'lee', dn: 'uid=lee,dc=org', groups: [], attributes: {} }) };

/** A call that an attacker makes. */
interface Asked {
  readonly name: string;
  readonly of: (by: string, test: AdminTest, document: object) => Promise<{ readonly status: number }>;
}

const sealed = (method: string, target: string, value: object) => (by: string, test: AdminTest) =>
  test.call(by, method, target, { sealed: value });
const plain = (method: string, target: string, value: object) => (by: string, test: AdminTest) =>
  test.call(by, method, target, { plain: JSON.stringify(value) });
const dn = 'uid=lee,dc=org';
const secretKey = 'known-to-the-caller';

/** Every call that changes identities, with what an attacker would ask. */
const calls: readonly Asked[] = [
  ...['robot', 'free', 'sibling', 'paused', 'external'].flatMap((key): Asked[] => [
    {
      name: `${key} gets a policy`,
      of: (by, test, newPolicy) => sealed('POST', `update-service-account?accessKey=${key}`, { newPolicy })(by, test),
    },
    { name: `${key} loses it`, of: sealed('POST', `update-service-account?accessKey=${key}`, { newPolicy: {} }) },
    {
      name: `${key} gets a secret`,
      of: sealed('POST', `update-service-account?accessKey=${key}`, { newSecretKey: secretKey }),
    },
    { name: `${key} is enabled`, of: sealed('POST', `update-service-account?accessKey=${key}`, { newStatus: 'on' }) },
  ]),
  ...[undefined, 'ann', 'bob', 'carl', 'hash-of-eve'].flatMap((targetUser): Asked[] => [
    {
      name: `a key of ${targetUser}`,
      of: sealed('PUT', 'add-service-account', { targetUser, accessKey: 'made', secretKey }),
    },
    {
      name: `a key with a policy of ${targetUser}`,
      of: (by, test, policy) =>
        sealed('PUT', 'add-service-account', { targetUser, accessKey: 'made2', secretKey, policy })(by, test),
    },
  ]),
  ...['ann', 'bob', 'carl', 'dora'].flatMap((user): Asked[] => [
    { name: `${user} gets a secret`, of: sealed('PUT', `add-user?accessKey=${user}`, { secretKey }) },
    {
      name: `${user} gets a secret and a policy`,
      of: sealed('PUT', `add-user?accessKey=${user}`, { secretKey, policy: 'wide' }),
    },
    { name: `${user} is enabled`, of: plain('PUT', `set-user-status?accessKey=${user}&status=enabled`, {}) },
    ...['wide', 'narrow', 'denies'].flatMap((policy): Asked[] => [
      {
        name: `${user} gets ${policy}`,
        of: plain('PUT', `set-user-or-group-policy?policyName=${policy}&userOrGroup=${user}&isGroup=false`, {}),
      },
      { name: `${policy} for ${user}`, of: sealed('POST', 'idp/builtin/policy/attach', { policies: [policy], user }) },
      { name: `${policy} from ${user}`, of: sealed('POST', 'idp/builtin/policy/detach', { policies: [policy], user }) },
    ]),
    { name: `${user} joins`, of: plain('PUT', 'update-group-members', { group: 'team', members: [user] }) },
    { name: `${user} joins off`, of: plain('PUT', 'update-group-members', { group: 'off', members: [user] }) },
    {
      name: `${user} leaves`,
      of: plain('PUT', 'update-group-members', { group: 'team', members: [user], isRemove: true }),
    },
    { name: `${user} goes`, of: plain('DELETE', `remove-user?accessKey=${user}`, {}) },
  ]),
  { name: 'free goes', of: plain('DELETE', 'delete-service-account?accessKey=free', {}) },
  ...['wide', 'narrow', 'denies', 'later', 'readonly'].flatMap((name): Asked[] => [
    {
      name: `the policy ${name} changes`,
      of: (by, test, document) => plain('PUT', `add-canned-policy?name=${name}`, document)(by, test),
    },
    { name: `the policy ${name} goes`, of: plain('DELETE', `remove-canned-policy?name=${name}`, {}) },
  ]),
  ...['wide', 'narrow', 'denies'].flatMap((policy): Asked[] =>
    ['attach', 'detach'].map((how) => ({
      name: `${how} ${policy} by a claim`,
      of: sealed('POST', `/minio/admin/coffer/v1/claim-policy/${how}`, {
        provider: 'P',
        claim: 'sub',
        value: '*',
        policies: [policy],
      }),
    })),
  ),
  { name: 'the group is disabled', of: plain('PUT', 'set-group-status?group=team&status=disabled', {}) },
  { name: 'the group is enabled', of: plain('PUT', 'set-group-status?group=off&status=enabled', {}) },
  ...['import-iam', 'import-iam-v2'].map((path): Asked => ({
    name: path,
    of: async (by, test, policy) =>
      test.call(by, 'PUT', path, {
        plain: await zipped({
          'iam-assets/policies.json': { narrow: policy, later: policy },
          'iam-assets/users.json': { bob: { secretKey }, dora: { secretKey } },
          'iam-assets/groups.json': { team: { members: ['carl'] } },
          'iam-assets/user_mappings.json': { dora: { policy: 'wide' }, carl: { policy: 'wide' } },
          'iam-assets/svcaccts.json': {
            free: { parent: 'ann', accessKey: 'free', secretKey },
            imported: { parent: 'bob', accessKey: 'imported', secretKey },
            imported2: { parent: 'ann', accessKey: 'imported2', secretKey, sessionPolicy: policy },
          },
        }),
      }),
  })),
  ...['PUT', 'POST'].map((method): Asked => ({
    name: `${method} a provider`,
    of: (by, test) =>
      test.call(by, method, 'idp-config/openid/evil', { sealedText: 'config_url=https://evil role_policy=wide' }),
  })),
  ...['PUT set-config-kv', 'PUT config', 'DELETE del-config-kv'].map((route): Asked => {
    const [method = '', path = ''] = route.split(' ');
    const text =
      method === 'PUT' ? 'identity_openid:evil role_policy=consoleAdmin' : 'identity_openid:evil role_policy';
    return { name: route, of: (by, test) => test.call(by, method, path, { sealedText: text }) };
  }),
  ...['attach', 'detach'].map((how) => ({
    name: `${how} in a directory`,
    of: sealed('POST', `idp/ldap/policy/${how}`, { policies: ['wide'], user: dn }),
  })),
  {
    name: 'a key of a directory user',
    of: sealed('PUT', 'idp/ldap/add-service-account', { targetUser: dn, accessKey: 'made', secretKey }),
  },
];

const probes = [
  's3:GetObject',
  's3:PutObject',
  's3:ListBucket',
  'admin:ServerInfo',
  'admin:CreateUser',
  'kms:CreateKey',
].flatMap((action) =>
  (action.startsWith('s3:') ? ['a', 'a/b', 'ann/b', 'bob/b', 'c/d'] : ['']).map((resource) => ({ action, resource })),
);

function zipped(files: Readonly<Record<string, object>>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, value]) => ({ name, content: Buffer.from(JSON.stringify(value)) }));
  return writeZip(entries, new Date());
}

async function rightsOf(test: AdminTest, accessKey: string): Promise<ReadonlySet<string>> {
  const found = await test.access.credentials(accessKey);
  const allowed = new Set<string>();
  if (found === undefined) return allowed;
  for (const probe of probes) {
    const decided = await test.access.authorize({ principal: found.principal, ...probe, context: {} });
    if (decided.kind === 'allow') allowed.add(JSON.stringify(probe));
  }
  return allowed;
}

/** Reports whether the caller has set the secret key. */
async function isKnown({ identities }: AdminTest, accessKey: string): Promise<boolean> {
  const found = (await identities.user(accessKey)) ?? (await identities.serviceAccount(accessKey));
  return found?.secretKey === secretKey;
}

async function allRights(test: AdminTest): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const keys: string[] = [];
  for await (const { accessKey } of test.identities.users()) keys.push(accessKey);
  for await (const { accessKey } of test.identities.serviceAccounts()) keys.push(accessKey);
  return new Map(await Promise.all(keys.map(async (key) => [key, await rightsOf(test, key)] as const)));
}

/** The secret keys that an export shows. */
async function exported(test: AdminTest, by: string): Promise<string> {
  const { status, bytes } = await test.call(by, 'GET', 'export-iam');
  if (status !== 200) return '';
  const files = await readZip(bytes, { entries: 100, size: 1_000_000 });
  return files.map(({ content }) => content.toString()).join('\n');
}

const statement = fc.record({
  Effect: fc.constantFrom('Allow', 'Allow', 'Allow', 'Deny'),
  Action: fc.subarray(['s3:*', 's3:GetObject', 's3:Put*', 's3:List*'], { minLength: 1, maxLength: 2 }),
  Resource: fc.subarray(['arn:aws:s3:::*', 'arn:aws:s3:::a/*', 'arn:aws:s3:::a', 'arn:aws:s3:::${aws:username}/*'], {
    minLength: 1,
    maxLength: 2,
  }),
});
const statements = fc.array(statement, { maxLength: 3 });

/** Calls that give no right: they end something or only look. The restored configuration goes the way of `set-config-kv`. */
const notRaising: readonly string[] = [
  'DELETE idp-config',
  'PUT restore-config-history-kv',
  'DELETE clear-config-history-kv',
  'POST openid-test',
  'POST ldap-test',
  'POST revoke-tokens',
  'POST explain',
];

describe('a caller with a policy of its own', () => {
  it('raises nobody above it, by any calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        statements,
        fc.array(fc.tuple(fc.constantFrom(...calls), statements), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (narrow, asked, asSession) => {
          const boundary = [administers, ...narrow];
          const test = await stageOf(boundary);
          const by = asSession ? await sessionOf(test, textOf(...boundary)) : 'robot';
          const before = await allRights(test);
          for (const [call, written] of asked) {
            // As many documents are those of the caller as not.
            const document = documentOf(...(written.length === 0 ? boundary : written));
            await call.of(by, test, document);
          }
          const document = parsePolicyDocument(documentOf(...boundary));
          for (const [accessKey, rights] of await allRights(test)) {
            const had = (await isKnown(test, accessKey))
              ? new Set<string>()
              : (before.get(accessKey) ?? new Set<string>());
            for (const right of rights) {
              if (had.has(right)) continue;
              const probe = JSON.parse(right) as { action: string; resource: string };
              const request = { ...probe, context: {}, variables: { 'aws:username': 'ann' } };
              const { effect } = evaluate([{ name: 'boundary', document }], request);
              expect(`${accessKey} may ${right}: ${effect}`).toBe(`${accessKey} may ${right}: allow`);
            }
          }
          expect(await exported(test, by)).not.toMatch(/"(ann|bob|carl|free|sibling|paused)-secret"/);
        },
      ),
      { numRuns: 400 },
    );
  }, 360_000);

  it.each(calls.map((call) => [call.name, call] as const))('cannot lift it with one call: %s', async (_, call) => {
    const test = await stageOf([administers]);
    const before = await allRights(test);
    await call.of('robot', test, documentOf(everything));
    const after = await allRights(test);
    for (const [key, rights] of after) {
      const had = (await isKnown(test, key)) ? undefined : before.get(key);
      const gained = [...rights].filter((right) => had?.has(right) !== true && !right.includes('admin:'));
      expect([key, gained]).toEqual([key, []]);
    }
  });

  it('has every call that changes identities above', async () => {
    const tried: string[] = [];
    const recorder = {
      call: (_: string, method: string, target: string) => {
        const path = target.split('?')[0] ?? '';
        tried.push(`${method} ${path.startsWith('/') ? path : `/minio/admin/v3/${path}`}`);
        return Promise.resolve({ status: 200 });
      },
    } as unknown as AdminTest;
    for (const call of calls) await call.of('robot', recorder, {});
    const changing = /User|Group|Policy|ServiceAccount|ImportIAM|ConfigUpdate/;
    const untried = routes.filter(({ method, path, action }) => {
      if (method === 'GET' || typeof action === 'function' || !changing.test([action].flat().join())) return false;
      return !tried.some(
        (one) => method.split('|').includes(one.split(' ')[0] ?? '') && path.test(one.split(' ')[1] ?? ''),
      );
    });
    const names = untried.map(
      ({ method, path }) => `${method} ${/([a-z][a-z-]*[a-z])(\\\/[(?]|[^a-z-]*$)/.exec(path.source)?.[1]}`,
    );
    expect(names).toEqual(notRaising);
  });

  it('works where it gives no more than it has', async () => {
    const test = await stageOf([administers, { Effect: 'Allow', Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] }]);
    const made = await test.call('robot', 'PUT', 'add-user?accessKey=dora', {
      sealed: { secretKey, policy: 'readwrite' },
    });
    expect(made.status).toBe(200);
    const narrow = { targetUser: 'bob', accessKey: 'narrower', secretKey, policy: documentOf(reads) };
    expect((await test.call('robot', 'PUT', 'add-service-account', { sealed: narrow })).status).toBe(200);
    const joined = await test.call('robot', 'PUT', 'update-group-members', {
      plain: JSON.stringify({ group: 'new', members: ['dora'] }),
    });
    expect(joined.status).toBe(200);
  });

  it('is told what exceeds it', async () => {
    const test = await stageOf([administers]);
    const { status, value } = await test.call('robot', 'PUT', 'add-user?accessKey=bob', { sealed: { secretKey } });
    expect(status).toBe(403);
    expect(value).toMatchObject({
      Message: expect.stringContaining('the policy readwrite of the user bob allows more') as string,
    });
  });
});

async function sessionOf(test: AdminTest, sessionPolicy: string): Promise<string> {
  const expiration = new Date('2026-01-02T00:00:00Z');
  const subject = { kind: 'user', name: 'ann' } as const;
  return (await test.access.temporary.create({ subject, parentName: 'ann', expiration, sessionPolicy })).accessKey;
}
