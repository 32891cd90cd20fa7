import {
  CreateBucketCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientDriver } from '../cli/client-driver.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { type CutLink, startCutLink } from '../support/server/cut-link.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startWatchedFront } from '../support/server/watched-front.ts';
import { type SharedAccess, sharedServer } from '../support/server/shared-server.ts';
import { everythingTo, replicate, sideOf, versionedBucket } from './replicated-buckets.ts';

const guide = new URL('../../docs/guides/replication.md', import.meta.url);
const client = new ClientDriver();
const wait = { timeout: 180_000, interval: 100 };
let left: SharedAccess;
let right: SharedAccess;
let here: S3Client;
let there: S3Client;
/** What the right server is to the left one. */
let link: CutLink;

beforeAll(async () => {
  [left, right] = await Promise.all([sharedServer('left'), sharedServer('right')]);
  [here, there] = [s3Client(left), s3Client(right)];
  link = await startCutLink(right.s3);
  await client.start(() => Promise.resolve({ ...left, url: left.s3, stop: () => link.close() }));
  const keys = `${right.accessKey}\n${right.secretKey}\n`;
  for (const [name, url] of [
    ['t', right.s3],
    ['linked', link.url],
  ] as const) {
    expect(await client.attemptWith({ input: keys }, 'alias', 'set', name, url)).toMatchObject({ code: 0 });
  }
}, 180_000);

afterAll(() => client.stop());

/** Two buckets of which the left one is replicated to the right one. */
async function replicated(name: string, { objectLock = false } = {}): Promise<void> {
  await Promise.all([versionedBucket(here, name, objectLock), versionedBucket(there, name, objectLock)]);
  await replicate(sideOf(left), name, { ...right, s3: link.url });
}

async function put(Bucket: string, Key: string, more: { readonly Tagging?: string } = {}): Promise<string> {
  const { VersionId = '' } = await here.send(new PutObjectCommand({ Bucket, Key, Body: 'text', ...more }));
  return VersionId;
}

async function untilCompleted(Bucket: string, ...keys: readonly string[]): Promise<void> {
  for (const Key of keys) {
    const status = async () => (await here.send(new HeadObjectCommand({ Bucket, Key }))).ReplicationStatus;
    await expect.poll(status, wait).toBe('COMPLETED');
  }
}

async function untilListed(Bucket: string, count: number): Promise<void> {
  const listed = async () => {
    const { Versions = [], DeleteMarkers = [] } = await there.send(new ListObjectVersionsCommand({ Bucket }));
    return Versions.length + DeleteMarkers.length;
  };
  await expect.poll(listed, wait).toBe(count);
}

function isReadOfD(method: string, path: string): boolean {
  return method === 'HEAD' && path.includes('/d?');
}

/** The differences, the last line, and the exit code. */
async function verify(...args: readonly string[]) {
  const { code, stdout, stderr } = await client.attempt('--json', 'replicate', 'verify', ...args);
  const lines = stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const found = lines.filter((line) => 'difference' in line);
  return { code, stderr, found, last: lines.at(-1) };
}

describe('replicate verify', { timeout: 720_000 }, () => {
  it('says that nothing is missing, of versions, delete markers and locks', async () => {
    await replicated('verified-equal', { objectLock: true });
    await put('verified-equal', 'a b/ä', { Tagging: 'k=v' });
    await put('verified-equal', 'a b/ä');
    const VersionId = await put('verified-equal', 'held');
    const hold = { Bucket: 'verified-equal', Key: 'held', VersionId, LegalHold: { Status: 'ON' as const } };
    await here.send(new PutObjectLegalHoldCommand(hold));
    await here.send(new DeleteObjectCommand({ Bucket: 'verified-equal', Key: 'gone' }));
    await untilListed('verified-equal', 4);
    await untilCompleted('verified-equal', 'a b/ä', 'held');
    expect(await client.run('replicate', 'verify', 's/verified-equal')).toBe(
      'Nothing is missing: 4 versions compared with linked/verified-equal\n',
    );
    const { code, last } = await verify('s/verified-equal', 't/verified-equal');
    expect(code).toBe(0);
    expect(last).toMatchObject({ op: 'verify', completed: true, compared: 4, missing: 0, unknown: 0 });
  });

  it('compares null versions and null delete markers from before the versioning', async () => {
    const Bucket = 'verified-null';
    await here.send(new CreateBucketCommand({ Bucket }));
    const set = (Status: 'Enabled' | 'Suspended') =>
      here.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
    await set('Suspended');
    await put(Bucket, 'null');
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'null gone' }));
    await set('Enabled');
    await versionedBucket(there, Bucket);
    const arn = await replicate(sideOf(left), Bucket, { ...right, s3: link.url });
    expect(await verify(`s/${Bucket}`)).toMatchObject({
      code: 1,
      found: [
        { difference: 'missing', key: 'null', versionId: 'null', deleteMarker: false },
        { difference: 'missing', key: 'null gone', versionId: 'null', deleteMarker: true },
      ],
    });
    await client.run('replicate', 'resync', 'start', `s/${Bucket}`, '--remote-bucket', arn);
    await untilListed(Bucket, 2);
    await untilCompleted(Bucket, 'null');
    expect(await verify(`s/${Bucket}`)).toMatchObject({ code: 0, last: { compared: 2, missing: 0 } });
  });

  it('lists what is missing, what differs and what only the target has', async () => {
    const Bucket = 'verified-different';
    await replicated(Bucket, { objectLock: true });
    const lost = await put(Bucket, 'lost');
    for (const Key of ['held', 'tagged', 'same']) await put(Bucket, Key);
    const { VersionId: marker = '' } = await here.send(new DeleteObjectCommand({ Bucket, Key: 'marked' }));
    await untilListed(Bucket, 5);
    await untilCompleted(Bucket, 'lost', 'held', 'tagged', 'same');
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'lost', VersionId: lost }));
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'marked', VersionId: marker }));
    await there.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'held', LegalHold: { Status: 'ON' } }));
    await there.send(
      new PutObjectTaggingCommand({ Bucket, Key: 'tagged', Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }),
    );
    // What a client of the target makes is not the concern of the rule.
    await there.send(new PutObjectCommand({ Bucket, Key: 'own', Body: 'text' }));
    const { code, found, last } = await verify(`s/${Bucket}`);
    expect(code).toBe(1);
    expect(found).toMatchObject([
      { difference: 'differs', key: 'held', fields: ['legalHold'], state: 'COMPLETED' },
      { difference: 'missing', key: 'lost', versionId: lost, fields: ['version'], state: 'COMPLETED' },
      { difference: 'missing', key: 'marked', versionId: marker, deleteMarker: true },
      { difference: 'differs', key: 'tagged', fields: ['tags'] },
    ]);
    expect(last).toMatchObject({ completed: true, compared: 6, missing: 2, differs: 2, extra: 0, pending: 0 });
    const printed = await client.attempt('replicate', 'verify', `s/${Bucket}/lo`);
    expect(printed.stdout.toString('utf8')).toBe(
      `missing lost ${lost} (COMPLETED)\n1 missing: 1 version compared with linked/${Bucket}\n`,
    );
  });

  it('tells what waits from what is missing, removals too', async () => {
    const Bucket = 'verified-waiting';
    await replicated(Bucket);
    const VersionId = await put(Bucket, 'removed');
    await put(Bucket, 'tagged');
    await untilCompleted(Bucket, 'removed', 'tagged');
    link.cut();
    try {
      await put(Bucket, 'new');
      await here.send(new DeleteObjectCommand({ Bucket, Key: 'removed', VersionId }));
      await here.send(
        new PutObjectTaggingCommand({ Bucket, Key: 'tagged', Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }),
      );
      const { code, found, last } = await verify(`s/${Bucket}`, `t/${Bucket}`);
      expect(code).toBe(1);
      expect(found).toMatchObject([
        { difference: 'pending', key: 'new', fields: ['version'] },
        { difference: 'pending', key: 'removed', fields: ['removal'] },
        { difference: 'pending', key: 'tagged', fields: ['tags'] },
      ]);
      expect(last).toMatchObject({ missing: 0, pending: 3 });
    } finally {
      link.heal();
    }
    await expect.poll(async () => (await verify(`s/${Bucket}`)).code, wait).toBe(0);
  });

  it('asks only for what the rules of the source send', async () => {
    const Bucket = 'verified-rules';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    await put(Bucket, 'in/before', { Tagging: 'copy=yes' });
    const arn = await replicate(sideOf(left), Bucket, { ...right, s3: link.url });
    const rule = (existing: string) =>
      everythingTo(arn)
        .replace(
          '<Filter><Prefix></Prefix></Filter>',
          '<Filter><And><Prefix>in/</Prefix><Tag><Key>copy</Key><Value>yes</Value></Tag></And></Filter>',
        )
        .replace(
          /<DeleteMarkerReplication>.*?<\/DeleteMarkerReplication>/,
          '<DeleteMarkerReplication><Status>Disabled</Status></DeleteMarkerReplication>',
        )
        .replace(
          /<ExistingObjectReplication>.*?<\/ExistingObjectReplication>/,
          `<ExistingObjectReplication><Status>${existing}</Status></ExistingObjectReplication>`,
        );
    const setRule = async (existing: string) => {
      const body = Buffer.from(rule(existing));
      expect(await adminCall(left.s3, left, 'PUT', `/${Bucket}?replication=`, body)).toMatchObject({ status: 200 });
    };
    await setRule('Disabled');
    await put(Bucket, 'out/other', { Tagging: 'copy=yes' });
    await put(Bucket, 'in/untagged');
    await put(Bucket, 'in/tagged', { Tagging: 'copy=yes' });
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'in/marked' }));
    await untilCompleted(Bucket, 'in/tagged');
    expect(await verify(`s/${Bucket}`)).toMatchObject({ code: 0, found: [] });
    await setRule('Enabled');
    expect(await verify(`s/${Bucket}`)).toMatchObject({
      code: 1,
      found: [{ difference: 'missing', key: 'in/before', fields: ['version'] }],
    });
  });

  it('names what it may not read as unknown, and a side that does not answer as an error', async () => {
    const Bucket = 'verified-unknown';
    await replicated(Bucket);
    await put(Bucket, 'hidden');
    await put(Bucket, 'shown');
    await untilCompleted(Bucket, 'hidden', 'shown');
    const deny = {
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:GetObjectVersionTagging',
      Resource: `arn:aws:s3:::${Bucket}/hidden`,
    };
    const read = { Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' };
    const policy = { Version: '2012-10-17', Statement: [read, { ...deny, Principal: undefined }] };
    await client.file('policy.json', JSON.stringify(policy));
    await client.run('admin', 'policy', 'create', 't', 'verifier', client.path('policy.json'));
    const added = await client.attemptWith(
      { input: 'verifier-secret\n' },
      'admin',
      'user',
      'add',
      't',
      'verifier',
      '-',
    );
    expect(added).toMatchObject({ code: 0 });
    await client.run('admin', 'policy', 'attach', 't', 'verifier', '--user', 'verifier');
    const set = await client.attemptWith({ input: 'verifier\nverifier-secret\n' }, 'alias', 'set', 'v', right.s3);
    expect(set).toMatchObject({ code: 0 });
    expect(await verify(`s/${Bucket}`, `v/${Bucket}`)).toMatchObject({
      code: 1,
      found: [
        {
          difference: 'unknown',
          key: 'hidden',
          reason: expect.stringContaining('the target does not show it') as string,
        },
      ],
      last: { unknown: 1, missing: 0 },
    });
    link.cut();
    try {
      const { code, found, last } = await verify(`s/${Bucket}`);
      expect({ code, found }).toEqual({ code: 1, found: [] });
      expect(last).toMatchObject({ status: 'error' });
    } finally {
      link.heal();
    }
  });

  it('goes on after the key that an interrupted comparison names', async () => {
    const Bucket = 'verified-resumed';
    await replicated(Bucket);
    const keys = ['a', 'b', 'c'];
    for (const key of keys) await put(Bucket, key);
    await untilCompleted(Bucket, ...keys);
    for (const Key of keys) {
      const { Versions = [] } = await there.send(new ListObjectVersionsCommand({ Bucket, Prefix: Key }));
      await there.send(new DeleteObjectCommand({ Bucket, Key, VersionId: Versions[0]?.VersionId ?? '' }));
    }
    await put(Bucket, 'd');
    await untilCompleted(Bucket, 'd');
    const front = await startWatchedFront(right.s3);
    try {
      const keysOfRight = `${right.accessKey}\n${right.secretKey}\n`;
      const set = await client.attemptWith({ input: keysOfRight }, 'alias', 'set', 'front', front.url);
      expect(set).toMatchObject({ code: 0 });
      front.before(isReadOfD, () => Promise.reject(new Error('broken')), Number.POSITIVE_INFINITY);
      const { code, stdout, stderr } = await client.attempt('replicate', 'verify', `s/${Bucket}`, `front/${Bucket}`);
      expect(code).toBe(1);
      expect(stderr).toContain(`Unable to compare \`s/${Bucket}\``);
      expect(stdout.toString('utf8')).toMatch(
        /^missing a .*\nmissing b .*\nmissing c .*\nNot all .*: --start-after 'b' goes on/,
      );
    } finally {
      await front.close();
    }
    const { found, last } = await verify(`s/${Bucket}`, '--start-after', 'b');
    expect(found.map(({ key }) => key)).toEqual(['c']);
    expect(last).toMatchObject({ compared: 2, missing: 1 });
  });

  it('leaves out a delete marker that a client of the target made, and not one of the source', async () => {
    const Bucket = 'verified-markers';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    const arn = await replicate(sideOf(left), Bucket, { ...right, s3: link.url });
    for (const Key of ['own', 'sent']) await put(Bucket, Key);
    const { VersionId = '' } = await here.send(new DeleteObjectCommand({ Bucket, Key: 'sent' }));
    await untilListed(Bucket, 3);
    await untilCompleted(Bucket, 'own');
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'own' }));
    expect(await verify(`s/${Bucket}`)).toMatchObject({ code: 0, found: [], last: { compared: 4 } });
    const setRule = (xml: string) => adminCall(left.s3, left, 'PUT', `/${Bucket}?replication=`, Buffer.from(xml));
    await setRule(everythingTo(arn).replace(/(<DeleteReplication><Status>)Enabled/, '$1Disabled'));
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'sent', VersionId }));
    await setRule(everythingTo(arn));
    expect((await verify(`s/${Bucket}`)).found).toMatchObject([
      { difference: 'extra', key: 'sent', versionId: VersionId, deleteMarker: true },
    ]);
  });

  it('says that what a client changes between two reads waits', async () => {
    const Bucket = 'verified-changed';
    await replicated(Bucket);
    await put(Bucket, 'd');
    await untilCompleted(Bucket, 'd');
    await there.send(
      new PutObjectTaggingCommand({ Bucket, Key: 'd', Tagging: { TagSet: [{ Key: 'of', Value: 'target' }] } }),
    );
    const front = await startWatchedFront(right.s3);
    let reads = 0;
    const change = async () => {
      reads += 1;
      if (reads !== 2) return;
      link.cut();
      const Tagging = { TagSet: [{ Key: 'of', Value: 'source' }] };
      await here.send(new PutObjectTaggingCommand({ Bucket, Key: 'd', Tagging }));
    };
    try {
      const keysOfRight = `${right.accessKey}\n${right.secretKey}\n`;
      await client.attemptWith({ input: keysOfRight }, 'alias', 'set', 'changed', front.url);
      front.before(isReadOfD, change, Number.POSITIVE_INFINITY);
      expect((await verify(`s/${Bucket}`, `changed/${Bucket}`)).found).toMatchObject([
        { difference: 'pending', key: 'd', fields: ['tags'] },
      ]);
    } finally {
      link.heal();
      await front.close();
    }
  });

  it('counts a version of a sample once, and none that one side lacks twice', async () => {
    const Bucket = 'verified-sample-once';
    await replicated(Bucket);
    const VersionId = await put(Bucket, 'a');
    await put(Bucket, 'b');
    await untilCompleted(Bucket, 'a', 'b');
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'a', VersionId }));
    expect(await verify(`s/${Bucket}`, '--sample', '10')).toMatchObject({
      code: 1,
      found: [{ difference: 'missing', key: 'a' }],
      last: { compared: 2, missing: 1 },
    });
  });

  it('refuses a prefix that no rule names, and counts no version that none names', async () => {
    const Bucket = 'verified-prefix';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    const arn = await replicate(sideOf(left), Bucket, { ...right, s3: link.url });
    const one = everythingTo(arn).replace('<Prefix></Prefix>', '<Prefix>in/1/</Prefix>');
    const other = one
      .replace('in/1/', 'in/3/')
      .replace(/<Priority>\d+</, '<Priority>7<')
      .replace(/<ID>[^<]*</, '<ID>other<');
    const both = one.replace('</Rule>', `</Rule>${/<Rule>.*<\/Rule>/s.exec(other)?.[0] ?? ''}`);
    await adminCall(left.s3, left, 'PUT', `/${Bucket}?replication=`, Buffer.from(both));
    for (const key of ['in/1/a', 'in/2/b', 'in/3/c', 'out/d']) await put(Bucket, key);
    await untilCompleted(Bucket, 'in/1/a', 'in/3/c');
    expect(await verify(`s/${Bucket}`)).toMatchObject({ code: 0, last: { compared: 2, missing: 0 } });
    for (const prefix of ['out/', 'in/2/', 'typo']) {
      const { code, found } = await verify(`s/${Bucket}/${prefix}`);
      expect({ prefix, code, found }).toEqual({ prefix, code: 1, found: [] });
    }
    const { stderr } = await client.attempt('replicate', 'verify', `s/${Bucket}/out/`);
    expect(stderr).toContain(`No enabled rule sends what begins with \`s/${Bucket}/out/\``);
    expect(await client.run('replicate', 'verify', `s/${Bucket}/in/1/none`)).toContain('Nothing was there to compare');
  });

  it('says that a sample was interrupted after all versions, and prints no key that a shell would change', async () => {
    const Bucket = 'verified-hints';
    await replicated(Bucket);
    const keys = ['a', 'b\n', 'd'];
    for (const key of keys) await put(Bucket, key);
    await untilCompleted(Bucket, ...keys);
    const front = await startWatchedFront(right.s3);
    try {
      const keysOfRight = `${right.accessKey}\n${right.secretKey}\n`;
      await client.attemptWith({ input: keysOfRight }, 'alias', 'set', 'hinted', front.url);
      front.before(isReadOfD, () => Promise.reject(new Error('broken')), Number.POSITIVE_INFINITY);
      const sampled = await verify(`s/${Bucket}`, `hinted/${Bucket}`, '--sample', '3');
      expect(sampled.code).toBe(1);
      const hint = await client.attempt('replicate', 'verify', `s/${Bucket}`, `hinted/${Bucket}`, '--sample', '3');
      expect(hint.stdout.toString('utf8')).toBe(
        'All versions were compared, but not all attributes of the sample: what differs is above\n',
      );
      const whole = await client.attempt('replicate', 'verify', `s/${Bucket}`, `hinted/${Bucket}`);
      expect(whole.stdout.toString('utf8')).not.toContain("--start-after 'b");
    } finally {
      await front.close();
    }
  });

  it('is what the guide says', async () => {
    const [, section = ''] = readFileSync(guide, 'utf8').split('## Whether anything is missing\n');
    const [, block = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
    const lines = block.split('\n').filter((line) => line !== '');
    expect(lines).toHaveLength(3);
    const Bucket = 'verified-guide';
    await replicated(Bucket);
    const keys = ['2025/january.jpg', '2025/march.jpg', '2026/may.jpg'];
    for (const key of keys) await put(Bucket, key);
    await untilCompleted(Bucket, ...keys);
    const compared = [];
    for (const line of lines) {
      const words = line
        .replaceAll(/\b(here|there)\/photos/g, (_, side) => `${side === 'here' ? 's' : 't'}/${Bucket}`)
        .replaceAll("'", '')
        .split(' ');
      const { code, last } = await verify(...words.slice(3));
      expect({ line, code }).toEqual({ line, code: 0 });
      compared.push(last?.['compared']);
    }
    expect(compared).toEqual([3, 2, 1]);
  });

  it('reads the attributes of a sample, and lists all versions', async () => {
    const Bucket = 'verified-sampled';
    await replicated(Bucket);
    const keys = ['a', 'b', 'c', 'd'];
    for (const key of keys) await put(Bucket, key);
    await untilCompleted(Bucket, ...keys);
    for (const Key of keys)
      await there.send(new PutObjectTaggingCommand({ Bucket, Key, Tagging: { TagSet: [{ Key: 'x', Value: 'y' }] } }));
    expect(await verify(`s/${Bucket}`, '--sample', '2')).toMatchObject({ code: 1, last: { compared: 4, differs: 2 } });
    expect(await verify(`s/${Bucket}`, '--sample', '100%')).toMatchObject({ last: { compared: 4, differs: 4 } });
  });
});
