import {
  DeleteObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { versionsOf } from '../replication/replicated-buckets.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let ours: RunningServer;
let theirs: Awaited<ReturnType<typeof startMinio>>;
let folder: string;
let mc: StockMc;
let here: S3Client;
let there: S3Client;
const Bucket = 'replicated';
const wait = { timeout: 60_000, interval: 200 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-replication-'));
  [ours, theirs] = await Promise.all([startServer(), startMinio()]);
  await untilReady(ours);
  mc = new StockMc(folder);
  await mc.alias('c', ours.s3, ours.accessKey, ours.secretKey);
  await mc.alias('m', theirs.url, theirs.accessKey, theirs.secretKey);
  here = s3Client(ours);
  there = s3Client({ ...ours, s3: theirs.url, accessKey: theirs.accessKey, secretKey: theirs.secretKey });
  for (const alias of ['c', 'm']) await mc.run('mb', '--with-versioning', `${alias}/${Bucket}`);
}, 360_000);
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

describe('replication to a real MinIO, set up by stock mc', { timeout: 180_000 }, () => {
  it('is added, listed and exported', async () => {
    const { host } = new URL(theirs.url);
    const remote = `http://${theirs.accessKey}:${theirs.secretKey}@${host}/${Bucket}`;
    const parts = 'delete,delete-marker,existing-objects,metadata-sync';
    await mc.run('replicate', 'add', `c/${Bucket}`, '--remote-bucket', remote, '--replicate', parts);
    const [listed] = await mc.run('replicate', 'ls', `c/${Bucket}`);
    expect(listed).toMatchObject({ status: 'success' });
    const exported = await mc.run('replicate', 'export', `c/${Bucket}`);
    expect(JSON.stringify(exported)).toContain('arn:minio:replication:');
    await mc.run('replicate', 'resync', 'status', `c/${Bucket}`);
  });

  it('keeps versions, their ids and times, delete markers, tags and removals', async () => {
    const Key = 'a b/ä';
    await here.send(new PutObjectCommand({ Bucket, Key, Body: 'one', Metadata: { colour: 'red' }, Tagging: 'k=v' }));
    await here.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(300_000, 1) }));
    const { VersionId } = await here.send(new PutObjectCommand({ Bucket, Key, Body: 'three' }));
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'hidden' }));
    await expect.poll(() => versionsOf(there, Bucket), wait).toEqual(await versionsOf(here, Bucket));
    await here.send(new PutObjectTaggingCommand({ Bucket, Key, Tagging: { TagSet: [{ Key: 'later', Value: 'x' }] } }));
    const count = async () => (await there.send(new HeadObjectCommand({ Bucket, Key }))).TagCount;
    await expect.poll(count, wait).toBe(1);
    const replica = await there.send(new HeadObjectCommand({ Bucket, Key }));
    expect(replica.ReplicationStatus).toBe('REPLICA');
    await here.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
    await expect.poll(() => versionsOf(there, Bucket), wait).toEqual(await versionsOf(here, Bucket));
  });

  it('lists what is not replicated, by stock mc and by coffer', async () => {
    const backlog = 'backlog';
    for (const alias of ['c', 'm']) await mc.run('mb', '--with-versioning', `${alias}/${backlog}`);
    const { host } = new URL(theirs.url);
    const remote = `http://${theirs.accessKey}:${theirs.secretKey}@${host}/${backlog}`;
    await mc.run('replicate', 'add', `c/${backlog}`, '--remote-bucket', remote);
    await mc.run('rb', '--force', `m/${backlog}`);
    const { VersionId } = await here.send(new PutObjectCommand({ Bucket: backlog, Key: 'a b/ä', Body: 'x' }));
    await expect
      .poll(async () => JSON.stringify(await mc.run('replicate', 'backlog', `c/${backlog}`)), wait)
      .toContain(VersionId);
    const [waiting] = await mc.run('replicate', 'backlog', '--full', `c/${backlog}`);
    expect(JSON.stringify(waiting)).toContain(VersionId);
    expect(JSON.stringify(waiting)).toContain('"rStatus":"FAILED"');
    expect(await mc.run('replicate', 'backlog', '--full', `c/${backlog}/other`)).toEqual([]);
    const at = ['--config-dir', join(folder, 'coffer')];
    await runCoffer([...at, 'alias', 'set', 'c', ours.s3, ours.accessKey, ours.secretKey]);
    const shown = await runCoffer([...at, '--json', 'replicate', 'backlog', `c/${backlog}`]);
    expect(shown.stdout.toString()).toContain(VersionId);
  });

  it('lets the answers to writes wait for a target that is added with --sync', async () => {
    const waiting = 'waiting';
    for (const alias of ['c', 'm']) await mc.run('mb', '--with-versioning', `${alias}/${waiting}`);
    const { host } = new URL(theirs.url);
    const remote = `http://${theirs.accessKey}:${theirs.secretKey}@${host}/${waiting}`;
    await mc.run('replicate', 'add', `c/${waiting}`, '--remote-bucket', remote, '--sync');
    await here.send(new PutObjectCommand({ Bucket: waiting, Key: 'key', Body: 'x' }));
    const head = { Bucket: waiting, Key: 'key' };
    expect((await here.send(new HeadObjectCommand(head))).ReplicationStatus).toBe('COMPLETED');
    expect((await there.send(new HeadObjectCommand(head))).ReplicationStatus).toBe('REPLICA');
    const path = `list-remote-targets?bucket=${waiting}&type=replication`;
    const shown = async () => (await adminCall(ours.s3, ours, 'GET', path)).value;
    expect(await shown()).toMatchObject([{ replicationSync: true }]);
    const [added] = await mc.run('replicate', 'ls', `c/${waiting}`);
    const { rule } = added as { readonly rule: { readonly ID: string } };
    await mc.run(
      'replicate',
      'update',
      `c/${waiting}`,
      '--id',
      rule.ID,
      '--remote-bucket',
      remote,
      '--sync',
      'disable',
    );
    expect(await shown()).toMatchObject([{ replicationSync: false }]);
  });

  it('shows its status, and is removed', async () => {
    const [status] = await mc.run('replicate', 'status', `c/${Bucket}`);
    expect(status).toMatchObject({ status: 'success' });
    await mc.run('replicate', 'rm', '--all', '--force', `c/${Bucket}`);
    const { text } = await mc.try('replicate', 'ls', `c/${Bucket}`);
    expect(text).not.toContain('arn:minio:replication:');
  });
});
