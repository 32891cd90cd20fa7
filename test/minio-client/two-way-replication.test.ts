import {
  DeleteObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientDriver } from '../cli/client-driver.ts';
import { replicate, sideOf, versionedBucket } from '../replication/replicated-buckets.ts';
import { type CutLink, startCutLink } from '../support/server/cut-link.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

const cli = new ClientDriver();
const wait = { timeout: 120_000, interval: 500 };
const hour = 3_600_000;
let ours: RunningServer;
let theirs: Awaited<ReturnType<typeof startMinio>>;
let here: S3Client;
let there: S3Client;
/** The ways to the MinIO and to the Coffer. */
let links: { readonly minio: CutLink; readonly coffer: CutLink };

beforeAll(async () => {
  // One of a single drive knows no locks.
  [ours, theirs] = await Promise.all([startServer(), startMinio('127.0.0.1', undefined, 4)]);
  await untilReady(ours);
  links = { minio: await startCutLink(theirs.url), coffer: await startCutLink(ours.s3) };
  here = s3Client(ours);
  there = s3Client({ ...ours, s3: theirs.url, accessKey: theirs.accessKey, secretKey: theirs.secretKey });
  await cli.start(() => Promise.resolve({ ...ours, url: ours.s3, stop: () => Promise.resolve() }));
  const input = `${theirs.accessKey}\n${theirs.secretKey}\n`;
  expect(await cli.attemptWith({ input }, 'alias', 'set', 'm', theirs.url)).toMatchObject({ code: 0 });
}, 180_000);

afterAll(async () => {
  await cli.stop();
  await Promise.all([links?.minio.close(), links?.coffer.close()]);
  await Promise.all([ours?.stop(), theirs?.stop()]);
});

async function twoWay(Bucket: string): Promise<void> {
  await Promise.all([versionedBucket(here, Bucket, true), versionedBucket(there, Bucket, true)]);
  const { accessKey, secretKey } = theirs;
  await replicate(sideOf(ours), Bucket, { s3: links.minio.url, accessKey, secretKey });
  const { host } = new URL(links.coffer.url);
  const remote = `http://${ours.accessKey}:${ours.secretKey}@${host}/${Bucket}`;
  const added = await cli.attempt('replicate', 'add', `m/${Bucket}`, '--remote-bucket', remote, '--path', 'on');
  expect(added, added.stderr).toMatchObject({ code: 0 });
}

async function put(client: S3Client, Bucket: string): Promise<string> {
  const { VersionId = '' } = await client.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'text' }));
  return VersionId;
}

/** What `verify` says of the MinIO. */
async function verify(Bucket: string): Promise<string> {
  const { code, stdout, stderr } = await cli.attempt('replicate', 'verify', `s/${Bucket}`, `m/${Bucket}`);
  return `${code} ${stdout.toString('utf8')}${stderr}`;
}

async function untilEqual(Bucket: string): Promise<void> {
  await expect.poll(() => verify(Bucket), wait).toMatch(/^0 Nothing is missing/);
}

async function whileCut(work: () => Promise<unknown>): Promise<void> {
  for (const link of Object.values(links)) link.cut();
  try {
    await work();
  } finally {
    for (const link of Object.values(links)) link.heal();
  }
}

function hold(client: S3Client, Bucket: string) {
  return client.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'key', LegalHold: { Status: 'ON' } }));
}

function tag(client: S3Client, Bucket: string, Value: string) {
  const Tagging = { TagSet: [{ Key: 'k', Value }] };
  return client.send(new PutObjectTaggingCommand({ Bucket, Key: 'key', Tagging }));
}

function comply(client: S3Client, Bucket: string, until: Date) {
  const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: until } as const;
  return client.send(new PutObjectRetentionCommand({ Bucket, Key: 'key', Retention }));
}

function inHours(hours: number): Date {
  return new Date(Math.ceil(Date.now() / 1_000) * 1_000 + hours * hour);
}

async function shown(client: S3Client, Bucket: string) {
  const ref = { Bucket, Key: 'key' };
  const { TagSet = [] } = await client.send(new GetObjectTaggingCommand(ref));
  const isHeld = await client.send(new GetObjectLegalHoldCommand(ref)).then(
    ({ LegalHold }) => LegalHold?.Status === 'ON',
    () => false,
  );
  const until = await client.send(new GetObjectRetentionCommand(ref)).then(
    ({ Retention }) => Retention?.RetainUntilDate?.toISOString(),
    () => undefined,
  );
  return { tags: TagSet.map(({ Value }) => Value).join(), isHeld, until };
}

describe('two-way replication with a real MinIO', { timeout: 400_000 }, () => {
  // MinIO sends nothing for a while after the link was cut.
  it('takes a version that was made there, with its id', async () => {
    const Bucket = 'made-there';
    await twoWay(Bucket);
    const VersionId = await put(there, Bucket);
    const ids = async () => {
      const { Versions = [] } = await here.send(new ListObjectVersionsCommand({ Bucket }));
      return Versions.map((version) => version.VersionId);
    };
    await expect.poll(ids, wait).toEqual([VersionId.replaceAll('-', '')]);
    const way = ['replicate', 'verify', `m/${Bucket}`, `s/${Bucket}`];
    const said = async () => {
      const { code, stdout, stderr } = await cli.attempt(...way);
      return `${code} ${stdout.toString('utf8')}${stderr}`;
    };
    await expect.poll(said, wait).toMatch(/^0 Nothing is missing/);
  });

  it('is verified: versions, delete markers, tags and locks that went there, and what waits', async () => {
    const Bucket = 'verified';
    await twoWay(Bucket);
    await put(here, Bucket);
    await put(here, Bucket);
    await tag(here, Bucket, 'x');
    await hold(here, Bucket);
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
    await untilEqual(Bucket);
    await whileCut(async () => {
      await put(here, Bucket);
      expect(await verify(Bucket)).toMatch(/^1 pending key .*\n1 pending: /);
    });
    await untilEqual(Bucket);
  });

  it('RLK-01 and CUT-01: keeps a legal hold of here on both sides, though there are newer tags there', async () => {
    const Bucket = 'held';
    await twoWay(Bucket);
    const VersionId = await put(here, Bucket);
    await untilEqual(Bucket);
    await whileCut(async () => {
      await hold(here, Bucket);
      await tag(there, Bucket, 'later');
    });
    // Whether the tags of the MinIO stay there, and when it sends them, is its own affair.
    for (const client of [there, here]) {
      await expect.poll(async () => (await shown(client, Bucket)).isHeld, wait).toBe(true);
      const removal = client.send(new DeleteObjectCommand({ Bucket, Key: 'key', VersionId }));
      expect(await refusal(removal)).toMatchObject({
        code: expect.stringMatching(/^(?:AccessDenied|InvalidRequest)$/) as string,
      });
    }
    expect(await verify(Bucket)).toMatch(/^(?:0 |1 (?:differs|pending) key \S+: tags)/);
  });

  it('RLK-04 and CUT-03: COMPLIANCE of 3 hours here and of 1 hour there are 3 hours on both sides', async () => {
    const Bucket = 'complied';
    await twoWay(Bucket);
    await put(here, Bucket);
    await untilEqual(Bucket);
    const long = inHours(3);
    // The shorter one is older: MinIO keeps the newer change, whatever it is.
    await whileCut(async () => {
      await comply(there, Bucket, inHours(1));
      await comply(here, Bucket, long);
    });
    const expected = { tags: '', isHeld: false, until: long.toISOString() };
    for (const client of [here, there]) await expect.poll(() => shown(client, Bucket), wait).toEqual(expected);
    await untilEqual(Bucket);
  });
});
