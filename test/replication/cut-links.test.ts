import {
  DeleteBucketCommand,
  DeleteBucketReplicationCommand,
  DeleteObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientDriver } from '../cli/client-driver.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { type CutLink, startCutLink } from '../support/server/cut-link.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { type SharedAccess, sharedServer } from '../support/server/shared-server.ts';
import { everythingTo, replicate, sideOf, versionedBucket } from './replicated-buckets.ts';

// The cases of public reports, each with a change on both sides while the link is cut.

const cli = new ClientDriver();
const wait = { timeout: 90_000, interval: 200 };
const hour = 3_600_000;
let left: SharedAccess;
let right: SharedAccess;
let here: S3Client;
let there: S3Client;
/** A user of the right server who may write tags, and nothing else. */
let tagger: S3Client;
/** The ways to the right and to the left server. */
let links: { readonly right: CutLink; readonly left: CutLink };

beforeAll(async () => {
  [left, right] = await Promise.all([sharedServer('left'), sharedServer('right')]);
  [here, there] = [s3Client(left), s3Client(right)];
  links = { right: await startCutLink(right.s3), left: await startCutLink(left.s3) };
  await cli.start(() => Promise.resolve({ ...left, url: left.s3, stop: () => Promise.resolve() }));
  const input = `${right.accessKey}\n${right.secretKey}\n`;
  expect(await cli.attemptWith({ input }, 'alias', 'set', 't', right.s3)).toMatchObject({ code: 0 });
  const Statement = [
    { Effect: 'Allow', Action: ['s3:PutObjectTagging', 's3:PutObjectVersionTagging'], Resource: 'arn:aws:s3:::*' },
  ];
  const policy = await cli.file('tagger.json', JSON.stringify({ Version: '2012-10-17', Statement }));
  await cli.run('admin', 'policy', 'create', 't', 'cut-tagger', policy);
  const secret = { input: 'tagger-secret\n' };
  expect(await cli.attemptWith(secret, 'admin', 'user', 'add', 't', 'cut-tagger', '-')).toMatchObject({ code: 0 });
  await cli.run('admin', 'policy', 'attach', 't', 'cut-tagger', '--user', 'cut-tagger');
  tagger = s3Client({ ...right, accessKey: 'cut-tagger', secretKey: 'tagger-secret' });
}, 60_000);

afterAll(async () => {
  await cli.stop();
  await Promise.all([links.left.close(), links.right.close()]);
});

async function twoWay(Bucket: string): Promise<void> {
  await Promise.all([versionedBucket(here, Bucket, true), versionedBucket(there, Bucket, true)]);
  await replicate(sideOf(left), Bucket, { ...right, s3: links.right.url });
  await replicate(sideOf(right), Bucket, { ...left, s3: links.left.url });
}

async function oneWay(Bucket: string, objectLock = false): Promise<string> {
  await Promise.all([versionedBucket(here, Bucket, objectLock), versionedBucket(there, Bucket, objectLock)]);
  return replicate(sideOf(left), Bucket, { ...right, s3: links.right.url });
}

async function put(client: S3Client, Bucket: string, Key: string, Tagging?: string): Promise<string> {
  const { VersionId = '' } = await client.send(new PutObjectCommand({ Bucket, Key, Body: 'text', Tagging }));
  return VersionId;
}

async function whileCut(work: () => Promise<unknown>): Promise<void> {
  for (const link of [links.left, links.right]) link.cut();
  try {
    await work();
  } finally {
    for (const link of [links.left, links.right]) link.heal();
  }
}

function tag(client: S3Client, Bucket: string, Key: string, Value: string, VersionId?: string) {
  return client.send(
    new PutObjectTaggingCommand({ Bucket, Key, VersionId, Tagging: { TagSet: [{ Key: 'k', Value }] } }),
  );
}

function comply(client: S3Client, Bucket: string, Key: string, until: Date) {
  const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: until } as const;
  return client.send(new PutObjectRetentionCommand({ Bucket, Key, Retention }));
}

async function shown(client: S3Client, Bucket: string, Key: string) {
  const { TagSet = [] } = await client.send(new GetObjectTaggingCommand({ Bucket, Key }));
  const hold = await client.send(new GetObjectLegalHoldCommand({ Bucket, Key })).then(
    ({ LegalHold }) => LegalHold?.Status,
    () => undefined,
  );
  const until = await client.send(new GetObjectRetentionCommand({ Bucket, Key })).then(
    ({ Retention }) => `${Retention?.Mode} ${Retention?.RetainUntilDate?.toISOString()}`,
    () => undefined,
  );
  return { tags: TagSet.map(({ Value }) => Value).join(), hold, until };
}

async function expectBoth(Bucket: string, Key: string, expected: Awaited<ReturnType<typeof shown>>): Promise<void> {
  for (const client of [here, there]) await expect.poll(() => shown(client, Bucket, Key), wait).toEqual(expected);
}

async function verify(from: 's' | 't', Bucket: string): Promise<string> {
  const { code, stdout } = await cli.attempt(
    'replicate',
    'verify',
    `${from}/${Bucket}`,
    `${from === 's' ? 't' : 's'}/${Bucket}`,
  );
  return `${code} ${stdout.toString('utf8')}`;
}

/** Both sides say that nothing is missing. */
async function untilEqual(Bucket: string, ways: readonly ('s' | 't')[] = ['s', 't']): Promise<void> {
  for (const from of ways) await expect.poll(() => verify(from, Bucket), wait).toMatch(/^0 Nothing is missing/);
}

function status(client: S3Client, Bucket: string, Key: string, VersionId?: string): Promise<string | undefined> {
  return client
    .send(new HeadObjectCommand({ Bucket, Key, VersionId }))
    .then(({ ReplicationStatus }) => ReplicationStatus);
}

function inHours(hours: number): Date {
  return new Date(Math.ceil(Date.now() / 1_000) * 1_000 + hours * hour);
}

describe('changes of locks on both sides', { timeout: 240_000 }, () => {
  it('RLK-01: a legal hold on one side and tags on the other one at once', async () => {
    const Bucket = 'cut-rlk-1';
    await twoWay(Bucket);
    await put(here, Bucket, 'key');
    await untilEqual(Bucket, ['s']);
    await Promise.all([
      here.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'key', LegalHold: { Status: 'ON' } })),
      tag(there, Bucket, 'key', 'x'),
    ]);
    await expectBoth(Bucket, 'key', { tags: 'x', hold: 'ON', until: undefined });
    await untilEqual(Bucket);
  });

  it('RLK-04: COMPLIANCE of 3 hours on one side and of 1 hour on the other one', async () => {
    const Bucket = 'cut-rlk-4';
    await twoWay(Bucket);
    await put(here, Bucket, 'key');
    await untilEqual(Bucket, ['s']);
    const long = inHours(3);
    await whileCut(() => Promise.all([comply(here, Bucket, 'key', long), comply(there, Bucket, 'key', inHours(1))]));
    await expectBoth(Bucket, 'key', { tags: '', hold: undefined, until: `COMPLIANCE ${long.toISOString()}` });
    await untilEqual(Bucket);
  });

  it('CUT-01: a legal hold, then tags of a user without any right on locks while the link is cut', async () => {
    const Bucket = 'cut-1';
    await twoWay(Bucket);
    const VersionId = await put(here, Bucket, 'key');
    await untilEqual(Bucket, ['s']);
    await whileCut(async () => {
      await here.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'key', LegalHold: { Status: 'ON' } }));
      await tag(tagger, Bucket, 'key', 'later');
    });
    await expectBoth(Bucket, 'key', { tags: 'later', hold: 'ON', until: undefined });
    await untilEqual(Bucket);
    for (const client of [here, there]) {
      expect(await refusal(client.send(new DeleteObjectCommand({ Bucket, Key: 'key', VersionId })))).toEqual({
        code: 'AccessDenied',
        status: 403,
      });
    }
  });

  it('CUT-03: COMPLIANCE, then tags of a user without any right on locks while the link is cut', async () => {
    const Bucket = 'cut-3';
    await twoWay(Bucket);
    await put(here, Bucket, 'key');
    await untilEqual(Bucket, ['s']);
    const until = inHours(2);
    await whileCut(async () => {
      await comply(here, Bucket, 'key', until);
      await tag(tagger, Bucket, 'key', 'later');
    });
    await expectBoth(Bucket, 'key', { tags: 'later', hold: undefined, until: `COMPLIANCE ${until.toISOString()}` });
    await untilEqual(Bucket);
  });
});

describe('what the states say while the link is cut', { timeout: 240_000 }, () => {
  it('DN-14, NV-01, NV-09: versions from before the rule whose tags or holds change', async () => {
    const Bucket = 'cut-before';
    await Promise.all([versionedBucket(here, Bucket, true), versionedBucket(there, Bucket, true)]);
    const tagged = await put(here, Bucket, 'tagged');
    await put(here, Bucket, 'held');
    await replicate(sideOf(left), Bucket, { ...right, s3: links.right.url });
    await put(here, Bucket, 'tagged');
    await whileCut(async () => {
      await tag(here, Bucket, 'tagged', 'x', tagged);
      await here.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'held', LegalHold: { Status: 'ON' } }));
      expect(await status(here, Bucket, 'tagged', tagged)).toBe('PENDING');
      expect(await status(here, Bucket, 'held')).toBe('PENDING');
      expect(await verify('s', Bucket)).toMatch(/^1 (?:pending .*\n)+\d pending: /);
    });
    await untilEqual(Bucket, ['s']);
    expect(await status(here, Bucket, 'tagged', tagged)).toBe('COMPLETED');
  });

  it('NV-04, RB-12: objects that get the tag of the rule later, and lose it', async () => {
    const Bucket = 'cut-tag';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    const arn = await replicate(sideOf(left), Bucket, { ...right, s3: links.right.url });
    const filter = '<Filter><And><Prefix>in/</Prefix><Tag><Key>k</Key><Value>x</Value></Tag></And></Filter>';
    const rule = everythingTo(arn)
      .replace('<Filter><Prefix></Prefix></Filter>', filter)
      .replace(
        /<DeleteMarkerReplication>.*?<\/DeleteMarkerReplication>/,
        '<DeleteMarkerReplication><Status>Disabled</Status></DeleteMarkerReplication>',
      );
    const set = await adminCall(left.s3, left, 'PUT', `/${Bucket}?replication=`, Buffer.from(rule));
    expect(set).toMatchObject({ status: 200 });
    for (const key of ['in/later', 'in/never', 'out/later']) await put(here, Bucket, key);
    await put(here, Bucket, 'in/loses', 'k=x');
    await expect.poll(() => status(here, Bucket, 'in/loses'), wait).toBe('COMPLETED');
    await whileCut(async () => {
      await tag(here, Bucket, 'in/later', 'x');
      await tag(here, Bucket, 'out/later', 'x');
      await tag(here, Bucket, 'in/loses', 'y');
    });
    await expect.poll(() => status(here, Bucket, 'in/later'), wait).toBe('COMPLETED');
    const { Versions = [] } = await there.send(new ListObjectVersionsCommand({ Bucket }));
    expect(Versions.map(({ Key }) => Key)).toEqual(['in/later', 'in/loses']);
    await untilEqual(Bucket, ['s']);
  });

  it('DN-10: a side that has lost everything gets it back by a resync over a link that is cut meanwhile', async () => {
    const Bucket = 'cut-lost';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    await replicate(sideOf(left), Bucket, { ...right, s3: links.right.url });
    const arn = await replicate(sideOf(right), Bucket, { ...left, s3: links.left.url });
    for (const key of ['a', 'b', 'c']) await put(here, Bucket, key);
    await put(there, Bucket, 'd');
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'b' }));
    await untilEqual(Bucket);
    await here.send(new DeleteBucketReplicationCommand({ Bucket }));
    const { Versions = [], DeleteMarkers = [] } = await here.send(new ListObjectVersionsCommand({ Bucket }));
    for (const { Key = '', VersionId } of [...Versions, ...DeleteMarkers])
      await here.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
    await here.send(new DeleteBucketCommand({ Bucket }));
    await versionedBucket(here, Bucket);
    await whileCut(() => cli.run('replicate', 'resync', 'start', `t/${Bucket}`, '--remote-bucket', arn));
    await untilEqual(Bucket, ['t']);
    const back = await here.send(new ListObjectVersionsCommand({ Bucket }));
    expect([back.Versions?.length, back.DeleteMarkers?.length]).toEqual([4, 1]);
  });

  it('TW-10: a replica goes on to a third bucket by a resync, and not by itself', async () => {
    const [Bucket, chained] = ['cut-chain', 'cut-chain-end'];
    await oneWay(Bucket);
    await versionedBucket(here, chained);
    // The left server is the third one too, with a bucket of another name.
    const target = { ...left, s3: links.left.url };
    const rule = await cli.attempt(
      'replicate',
      'add',
      `t/${Bucket}`,
      '--remote-bucket',
      `http://${target.accessKey}:${target.secretKey}@${new URL(target.s3).host}/${chained}`,
      '--path',
      'on',
    );
    expect(rule).toMatchObject({ code: 0 });
    await whileCut(() => put(here, Bucket, 'key'));
    await untilEqual(Bucket, ['s']);
    await put(there, Bucket, 'own');
    await expect.poll(() => status(there, Bucket, 'own'), wait).toBe('COMPLETED');
    const keys = async () => {
      const { Versions = [] } = await here.send(new ListObjectVersionsCommand({ Bucket: chained }));
      return Versions.map(({ Key }) => Key);
    };
    expect(await keys()).toEqual(['own']);
    const [listed] = await cli.json('replicate', 'ls', `t/${Bucket}`);
    const { Destination } = (listed as { readonly rule: { readonly Destination: { readonly Bucket: string } } }).rule;
    await cli.run('replicate', 'resync', 'start', `t/${Bucket}`, '--remote-bucket', Destination.Bucket);
    await expect.poll(keys, wait).toEqual(['key', 'own']);
  });
});
