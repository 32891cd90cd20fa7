import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixedHolders, federated } from '../../../test/support/auth/identities.ts';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';
import { parseBucketPolicy, parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import { authorize } from '../../auth/authorize.ts';
import type { AccessRequest } from '../../auth/principal.ts';
import { writeReport } from '../../maintenance/inventory/write-report.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource?: string;
  readonly NotResource?: string;
  readonly Condition?: object;
}

const arn = (resource: string) => `arn:aws:s3:::${resource}`;
const everything: Statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' };
const settings: Statement = {
  Effect: 'Allow',
  Action: ['s3:PutBucketLogging', 's3:PutInventoryConfiguration', 's3:ListBucket*'],
  Resource: '*',
};

/** Ann has a policy of these statements; those in `ofBucket` are in the policy of the target and mean everyone. */
async function ann(statements: readonly Statement[], ofBucket: readonly Statement[] = []) {
  const Statement = ofBucket.map((one) => ({ ...one, Principal: '*' }));
  const bucketPolicy = ofBucket.length === 0 ? undefined : parseBucketPolicy({ Statement }, 'dst');
  const holders = fixedHolders(
    new Map([['ann', parsePolicyDocument({ Version: '2012-10-17', Statement: statements })]]),
  );
  const decide = (asked: AccessRequest) =>
    authorize(asked, holders, {
      bucketAccess: (bucket) =>
        Promise.resolve(bucket === 'dst' && bucketPolicy ? { policy: bucketPolicy } : undefined),
      objectTags: () => Promise.resolve(undefined),
      objectAcl: () => Promise.resolve(undefined),
    });
  const principal = {
    kind: 'service-account' as const,
    accessKey: 'ann-key',
    subject: federated({ policies: ['ann'] }),
  };
  const test = await testCalls({
    decide,
    authenticate: (request) => Promise.resolve({ principal, body: request.body, size: 0 }),
  });
  await test.layer.createBucket('dst', { location: '' });
  const mayAlone = async (action: string, resource: string, context: AccessRequest['context'] = {}) =>
    (await decide({ principal, action, resource, context })).kind === 'allow';
  return { ...test, mayAlone };
}

const inventory = (prefix: string, versions = 'Current', source = '') =>
  `<InventoryConfiguration><Id>daily</Id><IsEnabled>true</IsEnabled><Destination><S3BucketDestination><Format>CSV</Format>` +
  `<Bucket>${arn('dst')}</Bucket>${prefix && `<Prefix>${prefix}</Prefix>`}</S3BucketDestination></Destination>` +
  `<Schedule><Frequency>Daily</Frequency></Schedule>${source && `<Filter><Prefix>${source}</Prefix></Filter>`}` +
  `<IncludedObjectVersions>${versions}</IncludedObjectVersions></InventoryConfiguration>`;
const logging = (prefix: string) =>
  `<BucketLoggingStatus><LoggingEnabled><TargetBucket>dst</TargetBucket><TargetPrefix>${prefix}</TargetPrefix>` +
  `</LoggingEnabled></BucketLoggingStatus>`;

const putInventory = ({ call }: Pick<Awaited<ReturnType<typeof ann>>, 'call'>, body: string) =>
  call('PUT', '/bucket?inventory&id=daily', { body });
const putLogging = ({ call }: Pick<Awaited<ReturnType<typeof ann>>, 'call'>, prefix: string) =>
  call('PUT', '/bucket?logging', { body: logging(prefix) });
const denied = { status: 403, code: 'AccessDenied' };
const deny = (Resource: string, Action = 's3:PutObject'): Statement => ({
  Effect: 'Deny',
  Action,
  Resource: arn(Resource),
});
const write = (Resource: string): Statement => ({ Effect: 'Allow', Action: 's3:PutObject', Resource: arn(Resource) });

describe('an inventory', () => {
  it.each(['dst/audit/*', 'dst/audit/bucket/daily/*', 'dst/*/manifest.json', 'dst/audit/bucket/daily/data/x'])(
    'with the prefix audit is refused to a caller with a Deny of %s',
    async (resource) => {
      expect(await putInventory(await ann([everything, deny(resource)]), inventory('audit'))).toMatchObject(denied);
      const byBucket = await ann([everything], [deny(resource)]);
      expect(await putInventory(byBucket, inventory('audit'))).toMatchObject(denied);
    },
  );

  it.each(['dst/audit', 'dst/audit/', 'dst/audit/bucket/weekly/*', 'dst/auditors/*'])(
    'with the prefix audit is set by a caller with a Deny of %s, where no report goes',
    async (resource) => {
      expect(await putInventory(await ann([everything, deny(resource)]), inventory('audit'))).toMatchObject({
        status: 200,
      });
    },
  );

  it.each([
    ['dst/audit', 403],
    ['dst/audit/bucket/daily/?', 403],
    ['dst/audit/bucket/daily/*', 200],
    ['dst/aud*', 200],
  ])('is set by a caller who may write %s: %i', async (resource, status) => {
    expect(await putInventory(await ann([settings, write(resource)]), inventory('audit'))).toMatchObject({ status });
  });

  it.each([
    ['Current', 's3:ListBucket', '', 403],
    ['All', 's3:ListBucketVersions', '', 403],
    ['All', 's3:ListBucket', '', 200],
    ['Current', 's3:ListBucket', 'public/', 200],
  ])(
    'of %s versions is refused to a caller who may not list them: %s, %j: %i',
    async (versions, Action, of, status) => {
      const Condition = { StringNotLike: { 's3:prefix': 'public/*' } };
      const caller = await ann([everything, { Effect: 'Deny', Action, Resource: arn('bucket'), Condition }]);
      expect(await putInventory(caller, inventory('audit', versions, of))).toMatchObject({ status });
    },
  );
});

describe('access logs', () => {
  it.each([
    ['drop', [settings, write('dst/drop')], 403],
    ['drop', [settings, write('dst/drop?')], 403],
    ['drop', [settings, write('dst/drop*')], 200],
    ['', [settings, write('dst/*')], 200],
    ['', [settings, write('dst/a*')], 403],
    ['drop', [everything, deny('dst/drop2026-*')], 403],
    ['drop/', [everything, deny('dst/drop/*')], 403],
    ['drop/', [everything, deny('dst/drop')], 200],
  ])('with the prefix %j by a caller with %j: %i', async (prefix, statements, status) => {
    expect(await putLogging(await ann(statements), prefix)).toMatchObject({ status });
  });
});

/** Few names, so that policies and settings meet. */
const prefixes = fc.constantFrom('', 'a', 'a/', 'drop', 'a/bucket');
const rests = fc.constantFrom('', 'x', '2026-01-01-00-00-00-0A', '/x', 'bucket/daily/x', '000000000000//bucket/2026/x');
const resource = fc.constantFrom(
  '*',
  ...['dst/*', 'dst/a*', 'dst/a/*', 'dst/drop', 'dst/drop?*', 'dst/*/x', 'dst', 'bucket'].map(arn),
);
const condition = fc.option(
  fc.constantFrom(
    { StringEquals: { 's3:prefix': 'a' } },
    { Null: { 's3:x-amz-server-side-encryption': 'true' } },
    { StringEquals: { 's3:ExistingObjectTag/a': 'b' } },
  ),
  { nil: undefined },
);
const statement = fc
  .tuple(
    fc.constantFrom('Allow', 'Allow', 'Allow', 'Deny'),
    fc.constantFrom('s3:*', 's3:PutObject', 's3:Put*', 's3:List*', 's3:GetObject*'),
    fc.constantFrom('Resource', 'Resource', 'NotResource'),
    resource,
    condition,
  )
  .map(([Effect, Action, kind, where, Condition]): Statement => ({
    Effect,
    Action,
    [kind]: where,
    ...(Condition && { Condition }),
  }));
const begin = fc.constantFrom([], [everything], [write('dst/*')], [write('dst/a*')], [write('dst/drop*')]);
const policies = fc.tuple(
  fc.tuple(begin, fc.array(statement, { maxLength: 3 })).map(([first, rest]) => [...first, ...rest]),
  fc.array(statement, { maxLength: 1 }),
);

describe('for random policies', () => {
  it('no log is written under a name that the caller could not write', async () => {
    let set = 0;
    await fc.assert(
      fc.asyncProperty(policies, prefixes, rests, async ([own, more], prefix, rest) => {
        const caller = await ann([settings, ...own], ofTarget(more));
        if ((await putLogging(caller, prefix)).status !== 200 || prefix + rest === '') return;
        set += 1;
        expect(await caller.mayAlone('s3:PutObject', `dst/${prefix}${rest}`)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
    expect(set).toBeGreaterThan(0);
  });

  it('no report is written under a name that the caller could not write, and names nothing that they could not list', async () => {
    let set = 0;
    await fc.assert(
      fc.asyncProperty(policies, prefixes, fc.constantFrom('Current', 'All'), async ([own, more], prefix, versions) => {
        const caller = await ann([settings, ...own], ofTarget(more));
        if ((await putInventory(caller, inventory(prefix, versions, 'a'))).status !== 200) return;
        set += 1;
        const [configuration] = await caller.layer.getBucketInventories('bucket');
        if (configuration === undefined) throw new Error('nothing was stored');
        const written: string[] = [];
        const objects = {
          listObjectVersions: () =>
            Promise.resolve({
              versions: [
                { key: 'a', versionId: 'null', isLatest: true, deleteMarker: false, size: 1, modified: 1, etag: 'e' },
              ],
              prefixes: [],
            }),
          encryptsDelivery: () => Promise.resolve(false),
          deliverObject: ({ key }: { readonly key: string }) => {
            written.push(key);
            return Promise.resolve({});
          },
        };
        await writeReport({
          objects: objects as never,
          bucket: 'bucket',
          configuration,
          began: 0,
          progress: { files: [], rows: 0 },
          random: (size) => Buffer.alloc(size),
          passed: () => Promise.resolve(),
          checkpoint: () => Promise.resolve(),
        });
        expect(written).toHaveLength(4);
        for (const key of written) expect(await caller.mayAlone('s3:PutObject', `dst/${key}`)).toBe(true);
        const lists = versions === 'All' ? 's3:ListBucketVersions' : 's3:ListBucket';
        expect(await caller.mayAlone(lists, 'bucket', { 's3:prefix': ['a'] })).toBe(true);
      }),
      { numRuns: 1_000 },
    );
    expect(set).toBeGreaterThan(0);
  });
});

/** A policy of the target is about the target. */
function ofTarget(statements: readonly Statement[]): readonly Statement[] {
  return statements.map(({ Condition: _condition, ...one }) => ({
    ...one,
    Resource: arn('dst/a*'),
    NotResource: undefined,
  }));
}
