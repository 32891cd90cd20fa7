import { describe, expect, it } from 'vitest';
import { ownerId } from '../../protocol/s3/acl.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { testLayer } from '../../test/support/objects/test-layer.ts';
import type { Right } from '../auth/authorize.ts';
import { exportBuckets, importBuckets } from './bucket-archive.ts';
import { readZip } from './zip.ts';

const now = new Date('2026-01-01T00:00:00Z');
const limits = { entries: 100, size: 1_000_000 };
const region = 'us-east-1';
const notificationTargets = ['main:webhook'];
const require = () => Promise.resolve();
const tagsAlone = (action: string) =>
  action === 's3:PutBucketTagging' ? Promise.resolve() : Promise.reject(new S3Error('AccessDenied'));
const exceptBlock = (action: string) =>
  action === 's3:PutBucketPublicAccessBlock' ? Promise.reject(new S3Error('AccessDenied')) : Promise.resolve();
const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' }],
});

const isSet = { isSet: true };
const blocked = {
  blockPublicAcls: true,
  ignorePublicAcls: true,
  blockPublicPolicy: true,
  restrictPublicBuckets: true,
};
const cors = [{ origins: ['https://a.example'], methods: ['GET'], headers: [], exposed: [] }];

async function store() {
  const { layer } = testLayer();
  await layer.createBucket('photos', { location: region });
  await layer.createBucket('plain', { location: region });
  await layer.putBucketPolicy('photos', policy);
  await layer.putBucketTags('photos', { team: 'a' });
  await layer.putBucketEncryption('photos', { scheme: 'SSE-S3' });
  await layer.putBucketCors('photos', cors);
  return layer;
}

const requireAll = require;
const options = { only: undefined, region, notificationTargets, require, requireAll };
const queue = (arn: string) =>
  `<NotificationConfiguration><QueueConfiguration><Id>one</Id><Queue>${arn}</Queue><Event>s3:ObjectCreated:*</Event>` +
  '</QueueConfiguration></NotificationConfiguration>';
const arn = 'arn:minio:sqs:us-east-1:main:webhook';
const entry = (name: string, text: string) => ({ name, content: Buffer.from(text) });

const enabled = '<ObjectLockEnabled>Enabled</ObjectLockEnabled>';

describe('an archive of buckets', () => {
  it('holds what is set for each, by the names of MinIO', async () => {
    const archive = await readZip(await exportBuckets(await store(), undefined, now), limits);
    expect(archive.map(({ name }) => name)).toEqual([
      'photos/policy.json',
      'photos/tagging.xml',
      'photos/bucket-encryption.xml',
      'photos/cors.xml',
    ]);
  });

  it('is of one bucket where one is asked for, which must be there', async () => {
    const layer = await store();
    expect(await readZip(await exportBuckets(layer, 'plain', now), limits)).toEqual([]);
    await expect(exportBuckets(layer, 'nix', now)).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  it('makes the same buckets elsewhere', async () => {
    const archive = await readZip(await exportBuckets(await store(), undefined, now), limits);
    const { layer } = testLayer();
    expect(await importBuckets(layer, archive, options)).toEqual({
      photos: { policy: { isSet: true }, tagging: { isSet: true }, sse: { isSet: true }, cors: { isSet: true } },
    });
    expect(await layer.getBucketPolicy('photos')).toBe(policy);
    expect(await layer.getBucketTags('photos')).toEqual({ team: 'a' });
    expect(await layer.getBucketEncryption('photos')).toEqual({ scheme: 'SSE-S3' });
    expect(await layer.getBucketCors('photos')).toEqual(cors);
  });

  it('takes a bucket with the name of a property of every object, and names a folder that is no bucket', async () => {
    const { layer: from } = testLayer();
    await from.createBucket('constructor', { location: region });
    await from.putBucketTags('constructor', { team: 'a' });
    const archive = await readZip(await exportBuckets(from, undefined, now), limits);
    const { layer } = testLayer();
    const report = await importBuckets(layer, [...archive, entry('__proto__/other.txt', 'x')], options);
    expect(Object.entries(report)).toEqual([
      ['__proto__', { error: expect.stringContaining('no file of a bucket') as unknown }],
      ['constructor', { tagging: { isSet: true } }],
    ]);
    expect(await layer.getBucketTags('constructor')).toEqual({ team: 'a' });
  });

  it('keeps the smallest object of lifecycle transitions', async () => {
    const from = await store();
    const rule = { id: 'old', enabled: true, filter: { prefix: 'a/' }, expiration: { days: 7 } } as const;
    await from.putBucketLifecycle('photos', [{ ...rule, largeOnly: true }]);
    await from.putBucketLifecycle('plain', [rule]);
    const archive = await readZip(await exportBuckets(from, undefined, now), limits);
    const { layer } = testLayer();
    await importBuckets(layer, archive, options);
    expect(await layer.getBucketLifecycle('photos')).toEqual([{ ...rule, largeOnly: true }]);
    expect(await layer.getBucketLifecycle('plain')).toEqual([rule]);
  });

  it('makes buckets with ACLs, ownership and public access block elsewhere', async () => {
    const from = await store();
    const grants = [
      { grantee: ownerId, permission: 'FULL_CONTROL' },
      { grantee: 'AllUsers', permission: 'READ' },
    ] as const;
    await from.putOwnership('photos', 'ObjectWriter');
    await from.putBucketAcl('photos', { kind: 'grants', grants });
    await from.putPublicAccessBlock('photos', blocked);
    const archive = await readZip(await exportBuckets(from, 'photos', now), limits);
    const { layer } = testLayer();
    expect(await importBuckets(layer, archive, options)).toMatchObject({
      photos: { policy: isSet, publicAccessBlock: isSet, ownershipControls: isSet, acl: isSet },
    });
    expect(await layer.getOwnership('photos')).toBe('ObjectWriter');
    expect(await layer.getBucketAcl('photos')).toEqual({ owner: ownerId, grants });
    expect(await layer.getPublicAccessBlock('photos')).toEqual(blocked);
    expect(await layer.getBucketPolicy('photos')).toBe(policy);
  });

  it('opens no bucket whose public access block could not be set', async () => {
    const from = await store();
    await from.putPublicAccessBlock('photos', blocked);
    const archive = await readZip(await exportBuckets(from, 'photos', now), limits);
    const { layer } = testLayer();
    const error = expect.stringContaining('public access block') as string;
    expect(await importBuckets(layer, archive, { ...options, require: exceptBlock })).toMatchObject({
      photos: { policy: { isSet: false, error }, publicAccessBlock: { isSet: false }, tagging: isSet },
    });
    expect(await layer.getBucketPolicy('photos')).toBeUndefined();
  });

  it('makes buckets with versions and object lock elsewhere', async () => {
    const from = testLayer().layer;
    await from.createBucket('locked', { location: region, objectLock: true });
    const rule = { defaultRetention: { mode: 'COMPLIANCE', days: 3 } } as const;
    await from.putObjectLockConfiguration('locked', rule);
    await from.createBucket('versions', { location: region });
    const versioning = { status: 'Enabled', excludedPrefixes: ['tmp/'], excludeFolders: true } as const;
    await from.putBucketVersioning('versions', versioning);
    const archive = await readZip(await exportBuckets(from, undefined, now), limits);
    const { layer } = testLayer();
    expect(await importBuckets(layer, archive, options)).toEqual({
      locked: { versioning: { isSet: true }, olock: { isSet: true } },
      versions: { versioning: { isSet: true } },
    });
    expect(await layer.getObjectLockConfiguration('locked')).toEqual(rule);
    expect(await layer.getBucketVersioning('versions')).toEqual(versioning);
  });

  it('takes for each part the right of the operation that sets it', async () => {
    const archive = await readZip(await exportBuckets(await store(), undefined, now), limits);
    const { layer } = testLayer();
    await layer.createBucket('photos', { location: region });
    const onlyTags = { ...options, require: tagsAlone };
    expect(await importBuckets(layer, archive, onlyTags)).toMatchObject({
      photos: { policy: { isSet: false }, tagging: { isSet: true }, sse: { isSet: false } },
    });
    expect(await layer.getBucketPolicy('photos')).toBeUndefined();
    const other = await importBuckets(layer, [entry('new-bucket/tagging.xml', '')], onlyTags);
    expect(other).toMatchObject({ 'new-bucket': { error: expect.any(String) as string } });
    await expect(layer.headBucket('new-bucket')).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  it('takes no default retention away without the right to it', async () => {
    const { layer } = testLayer();
    await layer.createBucket('locked', { location: region, objectLock: true });
    const rule = { defaultRetention: { mode: 'COMPLIANCE', days: 3 } } as const;
    await layer.putObjectLockConfiguration('locked', rule);
    const weaker = [entry('locked/object-lock.xml', `<ObjectLockConfiguration>${enabled}</ObjectLockConfiguration>`)];
    expect(await importBuckets(layer, weaker, { ...options, require: tagsAlone })).toMatchObject({
      locked: { olock: { isSet: false } },
    });
    expect(await layer.getObjectLockConfiguration('locked')).toEqual(rule);
    expect(await importBuckets(layer, weaker, options)).toEqual({ locked: { olock: { isSet: true } } });
    expect(await layer.getObjectLockConfiguration('locked')).toEqual({});
  });

  it('does not report what the archive has an empty file for', async () => {
    const { layer } = testLayer();
    const archive = [
      entry('a-bucket/policy.json', policy.replaceAll('photos', 'a-bucket')),
      entry('a-bucket/notification.xml', '<NotificationConfiguration></NotificationConfiguration>'),
      entry('a-bucket/versioning.xml', '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>'),
      entry('a-bucket/quota.json', '{"quota":0,"size":0,"rate":0,"requests":0}'),
      entry(
        'b-bucket/notification.xml',
        '<NotificationConfiguration><QueueConfiguration/></NotificationConfiguration>',
      ),
      entry('b-bucket/quota.json', '{"quota":1024,"quotatype":"hard"}'),
      entry('b-bucket/cors.xml', 'no document'),
    ];
    expect(await importBuckets(layer, archive, options)).toEqual({
      'a-bucket': { policy: { isSet: true } },
      'b-bucket': {
        notification: { isSet: false, error: expect.any(String) as string },
        quota: { isSet: true },
        cors: { isSet: false, error: expect.any(String) as string },
      },
    });
  });

  it('exports and imports the versioning of a bucket', async () => {
    const { layer } = testLayer();
    await layer.createBucket('a-bucket', { location: region });
    await layer.putBucketVersioning('a-bucket', { status: 'Enabled', excludedPrefixes: ['tmp/'] });
    const archive = await readZip(await exportBuckets(layer, undefined, now), limits);
    const { layer: other } = testLayer();
    const report = await importBuckets(other, archive, options);
    expect(report).toEqual({ 'a-bucket': { versioning: { isSet: true } } });
    expect(await other.getBucketVersioning('a-bucket')).toEqual({ status: 'Enabled', excludedPrefixes: ['tmp/'] });
  });

  it('exports and imports the quota of a bucket, and refuses limits of another kind', async () => {
    const { layer } = testLayer();
    await layer.createBucket('a-bucket', { location: region });
    await layer.putBucketQuota('a-bucket', 1_000);
    const archive = await readZip(await exportBuckets(layer, undefined, now), limits);
    const { layer: other } = testLayer();
    const report = await importBuckets(other, archive, options);
    expect(report).toEqual({ 'a-bucket': { quota: { isSet: true } } });
    expect(await other.getBucketQuota('a-bucket')).toMatchObject({ bytes: 1_000 });
    for (const text of [
      '{"size":5,"rate":1}',
      '{"quota":5,"quotatype":"fifo"}',
      '{"quota":-5}',
      '{"quota":0.5}',
      '[',
    ]) {
      const files = [entry('a-bucket/quota.json', text)];
      expect(await importBuckets(layer, files, options)).toMatchObject({
        'a-bucket': { quota: { isSet: false } },
      });
    }
    expect(await layer.getBucketQuota('a-bucket')).toMatchObject({ bytes: 1_000 });
  });

  it('says of each part why it could not be set, and goes on', async () => {
    const { layer } = testLayer();
    const archive = [
      entry('a-bucket/policy.json', '{}'),
      entry('a-bucket/tagging.xml', '<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>'),
      entry('a-bucket/lifecycle.xml', '<LifecycleConfiguration><Rule/></LifecycleConfiguration>'),
      entry('No_Bucket/policy.json', policy),
    ];
    const report = await importBuckets(layer, archive, options);
    expect(report['a-bucket']).toMatchObject({
      policy: { isSet: false, error: expect.any(String) as string },
      tagging: { isSet: true },
      lifecycle: { isSet: false, error: expect.stringContaining('"Rule" lacks "Status"') as string },
    });
    expect(report['No_Bucket']).toEqual({ error: expect.stringContaining('cannot be the name') as string });
  });

  it('names the files that it does not read, unless they set nothing', async () => {
    const { layer } = testLayer();
    const archive = [
      entry('a-bucket/replication.xml', '<ReplicationConfiguration><Rule/></ReplicationConfiguration>'),
      entry('a-bucket/bucket-targets.json', '<BucketTargets><Targets/></BucketTargets>'),
      entry('a-bucket/later.xml', '<Later><Rule/></Later>'),
      entry('b-bucket/bucket-targets.json', '<BucketTargets></BucketTargets>'),
      entry('b-bucket/', ''),
    ];
    expect(await importBuckets(layer, archive, options)).toEqual({
      'a-bucket': {
        replication: { isSet: false, error: expect.stringContaining('replicate add') as string },
        'later.xml': { isSet: false, error: expect.stringContaining('this server does not know') as string },
      },
      'b-bucket': {},
    });
  });

  it('makes no bucket of a folder that is of something else', async () => {
    const { layer } = testLayer();
    const entries = [
      entry('iam-assets/', ''),
      entry('iam-assets/users.json', '{"ann":{}}'),
      entry('photos/holiday.jpg', 'bytes'),
    ];
    expect(await importBuckets(layer, entries, options)).toEqual({
      'iam-assets': {
        error: 'it has no file of a bucket: these are identities, which "admin cluster iam import" takes',
      },
      photos: { error: 'it has no file of a bucket' },
    });
    expect(await layer.listBuckets()).toEqual([]);
  });

  it('leaves the other buckets alone where one is asked for', async () => {
    const archive = await readZip(await exportBuckets(await store(), undefined, now), limits);
    const { layer } = testLayer();
    expect(await importBuckets(layer, archive, { ...options, only: 'plain' })).toEqual({});
    expect(await layer.listBuckets()).toEqual([]);
  });

  it('moves the notifications of a bucket to a server that has their targets', async () => {
    const { layer } = testLayer();
    await importBuckets(layer, [entry('a-bucket/notification.xml', queue(arn))], options);
    const rules = await layer.getBucketNotification('a-bucket');
    expect(rules).toMatchObject([{ id: 'one', arn, target: 'main:webhook' }]);
    const archive = await readZip(await exportBuckets(layer, undefined, now), limits);
    const { layer: other } = testLayer();
    expect(await importBuckets(other, archive, options)).toEqual({ 'a-bucket': { notification: { isSet: true } } });
    expect(await other.getBucketNotification('a-bucket')).toEqual(rules);
    const { layer: without } = testLayer();
    expect(await importBuckets(without, archive, { ...options, notificationTargets: [] })).toMatchObject({
      'a-bucket': { notification: { isSet: false, error: expect.stringContaining('ARN') as string } },
    });
    expect(await without.getBucketNotification('a-bucket')).toEqual([]);
  });

  it('moves where the access logs of a bucket go, to a bucket that comes later too', async () => {
    const { layer } = testLayer();
    await layer.createBucket('a-bucket', { location: region });
    await layer.createBucket('z-logs', { location: region });
    await layer.putBucketTags('z-logs', { a: 'b' });
    const logging = { targetBucket: 'z-logs', targetPrefix: 'of-a/' };
    await layer.putBucketLogging('a-bucket', logging);
    const archive = await readZip(await exportBuckets(layer, undefined, now), limits);
    const asked: string[] = [];
    const recorded = (action: string, resource: string) => Promise.resolve(void asked.push(`${action} ${resource}`));
    const { layer: other } = testLayer();
    const recordedRights = (rights: readonly Right[]) => {
      asked.push(...rights.map(({ action, resource, unknown }) => `${String(action)} ${resource} ${unknown?.every}`));
      return Promise.resolve();
    };
    const report = await importBuckets(other, archive, { ...options, require: recorded, requireAll: recordedRights });
    expect(report).toMatchObject({ 'a-bucket': { logging: { isSet: true } } });
    expect(await other.getBucketLogging('a-bucket')).toEqual(logging);
    expect(asked).toEqual(expect.arrayContaining(['s3:PutBucketLogging a-bucket', 's3:PutObject z-logs/of-a/ true']));
  });
});

/** Tags and a default encryption of `plain`, as MinIO writes them. */
const archive = [
  entry('plain/tagging.xml', '<Tagging><TagSet><Tag><Key>team</Key><Value>theirs</Value></Tag></TagSet></Tagging>'),
  entry(
    'plain/bucket-encryption.xml',
    '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>',
  ),
];

describe('an import while another administrator changes the bucket', () => {
  it('keeps each setting that the archive does not hold, also one that is set during the import', async () => {
    const layer = await store();
    await layer.putBucketVersioning('plain', { status: 'Enabled' });
    await layer.putBucketCharges('plain', { payer: 'Requester' });
    await layer.putBucketTags('plain', { team: 'mine', color: 'red' });
    let isChanged = false;
    const meanwhile = async () => {
      if (isChanged) return;
      isChanged = true;
      await layer.putBucketCors('plain', cors);
      await layer.putPublicAccessBlock('plain', blocked);
      await layer.putBucketQuota('plain', 1_000);
      await layer.putBucketLogging('plain', { targetBucket: 'photos', targetPrefix: 'logs/' });
    };
    const report = await importBuckets(layer, archive, { ...options, require: meanwhile });
    expect(report).toEqual({ plain: { tagging: isSet, sse: isSet } });
    // What the archive holds is as it says.
    expect(await layer.getBucketTags('plain')).toEqual({ team: 'theirs' });
    expect(await layer.getBucketEncryption('plain')).toEqual({ scheme: 'SSE-S3' });
    expect(await layer.getBucketVersioning('plain')).toEqual({ status: 'Enabled' });
    expect(await layer.getBucketCharges('plain')).toEqual({ payer: 'Requester' });
    expect(await layer.getBucketCors('plain')).toEqual(cors);
    expect(await layer.getPublicAccessBlock('plain')).toEqual(blocked);
    expect(await layer.getBucketQuota('plain')).toMatchObject({ bytes: 1_000 });
    expect(await layer.getBucketLogging('plain')).toMatchObject({ targetPrefix: 'logs/' });
  });

  it('keeps what the bucket blocks, which an archive of MinIO cannot hold', async () => {
    const layer = await store();
    await layer.putBucketEncryption('plain', { scheme: 'none', blocked: ['SSE-C'] });
    expect(await importBuckets(layer, archive, options)).toMatchObject({ plain: { sse: isSet } });
    expect(await layer.getBucketEncryption('plain')).toEqual({ scheme: 'SSE-S3', blocked: ['SSE-C'] });
  });

  it('takes from the archive what it says of blocked types', async () => {
    const [layer, other] = [await store(), await store()];
    await layer.putBucketEncryption('plain', { scheme: 'SSE-S3', blocked: ['NONE'] });
    await other.putBucketEncryption('plain', { scheme: 'SSE-S3', blocked: ['SSE-C'] });
    const entries = await readZip(await exportBuckets(layer, 'plain', now), limits);
    await importBuckets(other, entries, options);
    expect(await other.getBucketEncryption('plain')).toEqual({ scheme: 'SSE-S3', blocked: ['NONE'] });
  });

  it('reports an encryption that changes under it, and leaves it', async () => {
    const layer = await store();
    const read = layer.getBucketEncryption.bind(layer);
    const raced = {
      ...layer,
      getBucketEncryption: async (bucket: string) => {
        const before = await read(bucket);
        await layer.putBucketEncryption(bucket, { scheme: 'none', blocked: ['SSE-C'] });
        return before;
      },
    };
    const report = await importBuckets(raced, archive, options);
    expect(report).toMatchObject({
      plain: { tagging: isSet, sse: { isSet: false, error: expect.stringContaining('Nothing was changed') as string } },
    });
    expect(await read('plain')).toEqual({ scheme: 'none', blocked: ['SSE-C'] });
  });
});
