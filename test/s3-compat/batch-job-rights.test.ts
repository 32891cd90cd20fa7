import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAccess } from '../../server/auth/access.ts';
import { askerOf, decideForAsker } from '../../server/auth/asker.ts';
import { noKeySource } from '../../server/encryption/key-source.ts';
import { sealedRecords } from '../../server/encryption/sealed-records.ts';
import { createBatchJobs } from '../../server/maintenance/batch/batch-jobs.ts';
import type { BatchRemote, BatchVersion } from '../../server/maintenance/batch/batch-remote.ts';
import { batchRounds } from '../../server/maintenance/batch/batch-rounds.ts';
import { unlimited } from '../../server/maintenance/pace.ts';
import { existingTags } from '../../server/objects/attributes/existing-object.ts';
import { testIdentities } from '../support/auth/identities.ts';
import { put, testLayer } from '../support/objects/test-layer.ts';

const keys = ['in/a', 'in/b', 'in/tagged'];
const conditions = { 'aws:SourceIp': ['10.0.0.1'], 'aws:SecureTransport': ['true'] };
const actions = [
  's3:*',
  's3:GetObject',
  's3:GetObject*',
  's3:GetObjectVersion',
  's3:*Tagging',
  's3:PutObject',
  's3:Replicate*',
  's3:DeleteObject',
  's3:DeleteObjectVersion',
  's3:List*',
];
const statement = fc
  .tuple(
    fc.constantFrom('Allow', 'Allow', 'Deny'),
    fc.constantFrom(...actions),
    fc.constantFrom('Resource', 'Resource', 'Resource', 'NotResource'),
    fc.constantFrom(
      '*',
      'bucket',
      'bucket/*',
      'bucket/in/*',
      'bucket/in/a',
      'bucket/in/?',
      'bucket/out/a',
      'bucket/out/*',
    ),
    fc.option(
      fc.constantFrom(
        { StringEquals: { 's3:ExistingObjectTag/secret': 'yes' } },
        { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } },
        { Null: { 's3:versionid': 'true' } },
        { DateGreaterThan: { 'aws:CurrentTime': '2026-06-01T00:00:00Z' } },
      ),
      { nil: undefined },
    ),
  )
  .map(([Effect, Action, kind, resource, Condition]) => ({
    Effect,
    Action,
    [kind]: `arn:aws:s3:::${resource}`,
    ...(Condition && { Condition }),
  }));
const policyOf = (...Statement: object[]) => JSON.stringify({ Version: '2012-10-17', Statement });
const everything = { Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' };
const policy = fc
  .tuple(fc.constantFrom([], [everything], [everything]), fc.array(statement, { minLength: 1, maxLength: 3 }))
  .map(([first, rest]) => policyOf(...first, ...rest));

const deny = { ...everything, Effect: 'Deny' };
/** Together with what replaces the first, no request may read. */
const anything = policyOf(everything);
const onlyByVersion = policyOf(everything, { ...deny, Condition: { Null: { 's3:versionid': 'true' } } });
const notByVersion = policyOf(everything, { ...deny, Action: 's3:GetObjectVersion' });

const other = 'bucket: x, endpoint: "http://h", credentials: {accessKey: a, secretKey: b}';
const definitions = {
  send: `replicate: {apiVersion: v1, source: {bucket: bucket, prefix: in/}, target: {${other}}}`,
  fetch: `replicate: {apiVersion: v1, source: {${other}}, target: {bucket: bucket, prefix: out}}`,
  expire: 'expire: {apiVersion: v1, bucket: bucket, prefix: in/, rules: [{type: object}], retry: {attempts: 1}}',
};

/** A bucket with versions and without, and Ann's access key, which has a policy of its own. Returns what a job of hers reads and writes. */
async function stage(versioned: boolean, own: string, ofKey: string) {
  const time = { now: Date.parse('2026-01-01T00:00:00Z') };
  const clock = () => time.now;
  const { layer, records } = testLayer({ clock });
  await layer.createBucket('bucket', { location: '' });
  if (versioned) await layer.putBucketVersioning('bucket', { status: 'Enabled' });
  for (const key of versioned ? [...keys, ...keys] : keys) {
    time.now += 1;
    await layer.putObject({ ...put('bucket', key, key), ...(key === 'in/tagged' && { tags: { secret: 'yes' } }) });
  }
  time.now += 1;
  const { records: ofIdentities, identities } = await testIdentities({ clock: () => new Date(clock()) });
  const access = createAccess({
    records: ofIdentities,
    identities,
    root: { user: 'root', password: 'root-password' },
    bucketAccess: () => Promise.resolve(undefined),
    objectTags: existingTags({ records }),
    objectAcl: () => Promise.resolve(undefined),
    clock: () => new Date(clock()),
  });
  await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  await identities.putPolicy('of-ann', own);
  await identities.attach({ kind: 'user', name: 'ann' }, ['of-ann']);
  const subject = { kind: 'user' as const, name: 'ann' };
  await identities.createServiceAccount({ subject, accessKey: 'ann-key', secretKey: 'ann-key-secret', policy: ofKey });
  const principal = (await access.credentials('ann-key'))?.principal;
  if (principal === undefined || principal.kind === 'anonymous') throw new Error('there is no such key');

  const touched: { readonly what: 'sent' | 'fetched'; readonly version: BatchVersion; readonly target: string }[] = [];
  const recorded = (what: 'sent' | 'fetched') => (version: BatchVersion, target: string) => {
    touched.push({ what, version, target });
    return Promise.resolve('changed' as const);
  };
  const ofRemote = ['a', 'b', 'marker'].map((key) => ({
    key,
    versionId: 'null',
    isLatest: true,
    size: 1,
    modified: 1,
    etag: 'e',
    deleteMarker: key === 'marker',
  }));
  const remote: BatchRemote = {
    check: () => Promise.resolve(),
    list: () => Promise.resolve({ versions: ofRemote }),
    describe: () => Promise.resolve(undefined),
    send: recorded('sent'),
    fetch: recorded('fetched'),
    notify: () => Promise.resolve(),
    close: () => undefined,
  };
  const sealed = sealedRecords({ records, keys: noKeySource });
  await sealed.start();
  const replication = { open: () => remote, sealed };
  const jobs = createBatchJobs({ records, objects: layer, random: randomBytes, clock, replication });
  const log = { info: () => undefined, warn: () => undefined };
  const decide = decideForAsker(access, () => new Date(clock()));
  const round = batchRounds({ reads: unlimited, changesPerSecond: Infinity, log, clock, replication, decide });
  const listed = async () => {
    const request = { bucket: 'bucket', prefix: '', delimiter: '', keyMarker: '', limit: 1_000 };
    return (await layer.listObjectVersions(request)).versions;
  };
  /** Asks as a request of the key would. */
  const mayAlone = async (action: string, resource: string, more: Record<string, readonly string[]> = {}) =>
    (await access.authorize({ principal, action, resource, context: { ...conditions, ...ofNow, ...more } })).kind ===
    'allow';
  const ofNow = { 'aws:CurrentTime': [new Date(clock()).toISOString()] };
  return {
    identities,
    jobs,
    listed,
    touched,
    mayAlone,
    start: (definition: string) => jobs.start(definition, 'ann', askerOf(principal, conditions)),
    run: () => round({ records, objects: layer, keys: noKeySource, signal: new AbortController().signal }),
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;

async function mayRead({ mayAlone }: Stage, { key, versionId, isLatest }: BatchVersion): Promise<boolean> {
  const resource = `bucket/${key}`;
  const ofVersion = { 's3:versionid': [versionId] };
  const byVersion =
    (await mayAlone('s3:GetObjectVersion', resource, ofVersion)) &&
    (await mayAlone('s3:GetObjectVersionTagging', resource, ofVersion));
  if (byVersion || !isLatest) return byVersion;
  return (await mayAlone('s3:GetObject', resource)) && mayAlone('s3:GetObjectTagging', resource);
}

it.each([true, false])(
  'a job reads and writes nothing that the asker could not by single calls, whatever their policies have become; with versions: %s',
  { timeout: 360_000 },
  async (versioned) => {
    const counts = { sent: 0, fetched: 0, removed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(policy, policy),
        fc.option(policy, { nil: undefined }),
        fc.constantFrom('send', 'fetch', 'expire'),
        async ([own, ofKey], later, kind) => {
          const test = await stage(versioned, own, ofKey);
          await test.start(definitions[kind]);
          if (later !== undefined) await test.identities.putPolicy('of-ann', later);
          const before = await test.listed();
          const mayRemove = new Map<string, boolean>();
          for (const { key, versionId } of before) {
            const context = { 's3:versionid': [versionId] };
            const may = versioned
              ? test.mayAlone('s3:DeleteObjectVersion', `bucket/${key}`, context)
              : test.mayAlone('s3:DeleteObject', `bucket/${key}`);
            mayRemove.set(key + versionId, await may);
          }
          await test.run();
          const left = new Set((await test.listed()).map(({ key, versionId }) => key + versionId));
          for (const { key, versionId } of before) {
            if (left.has(key + versionId)) continue;
            counts.removed += 1;
            expect(mayRemove.get(key + versionId)).toBe(true);
          }
          for (const { what, version, target } of test.touched) {
            counts[what] += 1;
            if (what === 'sent') {
              expect(await mayRead(test, version)).toBe(true);
              continue;
            }
            expect(target).toBe(`out/${version.key}`);
            const needed = version.deleteMarker ? ['s3:ReplicateDelete'] : ['s3:PutObject', 's3:ReplicateObject'];
            for (const action of needed) expect(await test.mayAlone(action, `bucket/${target}`)).toBe(true);
          }
          counts.refused += (await test.jobs.list()).reduce((sum, { failed }) => sum + failed, 0);
        },
      ),
      { numRuns: 600, examples: [[[anything, onlyByVersion], notByVersion, 'send']] },
    );
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  },
);

it('a job of a removed or disabled key goes no further', async () => {
  const all = JSON.stringify({ Version: '2012-10-17', Statement: [everything] });
  for (const end of [
    ({ identities }: Stage) => identities.removeServiceAccount('ann-key'),
    ({ identities }: Stage) => identities.putUser({ accessKey: 'ann', status: 'disabled' }),
  ]) {
    const test = await stage(true, all, all);
    await test.start(definitions.send);
    await end(test);
    await test.run();
    expect(test.touched).toEqual([]);
    const message = expect.stringContaining('credentials of ann') as string;
    expect(await test.jobs.list()).toMatchObject([{ failed: 1, failure: { message } }]);
  }
});
