import {
  CreateBucketCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../../support/server/start-server.ts';
import { startSession } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: RunningServer;
let page: Page;
let s3: S3Client;

visitEachTest({
  server: () =>
    startServer({
      console: true,
      env: { SVC_KMS_SECRET_KEY: `own-key:${Buffer.alloc(32, 1).toString('base64')}` },
    }),
  ready(found) {
    server = found;
    s3 = s3Client(found);
  },
  async begin(one) {
    page = one.page;
    await startSession(page, server);
  },
});

const word = (text: string) => `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
const until = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 5 * 86_400_000);

/** Puts an object that has everything, as its owner could by S3. The bucket has no default encryption. */
async function whole(Bucket: string, kind: 'plain' | 'versions' | 'lock'): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: kind === 'lock' }));
  if (kind === 'versions') {
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  }
  await s3.send(
    new PutObjectCommand({
      Bucket,
      Key: 'a.txt',
      Body: 'text',
      ContentType: 'text/plain',
      Expires: new Date('2065-10-21T07:28:00Z'),
      Metadata: { text: word('Grüße für 5 € 日本'), empty: '', old: '1' },
      Tagging: 'team=red',
      WebsiteRedirectLocation: '/other',
      StorageClass: 'REDUCED_REDUNDANCY',
      ServerSideEncryption: 'aws:kms',
      SSEKMSKeyId: 'own-key',
      ChecksumAlgorithm: 'SHA256',
      ...(kind === 'lock' && {
        ObjectLockMode: 'GOVERNANCE',
        ObjectLockRetainUntilDate: until,
        ObjectLockLegalHoldStatus: 'ON',
      }),
    }),
  );
}

async function shown(Bucket: string, Key: string) {
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
  const own: ReadonlySet<string> = new Set(['$metadata', 'LastModified', 'ETag', 'VersionId']);
  return Object.fromEntries(Object.entries(head).filter(([name]) => !own.has(name))) as Partial<typeof head>;
}

const versionsOf = async (Bucket: string) =>
  (await s3.send(new ListObjectVersionsCommand({ Bucket }))).Versions?.length ?? 0;

describe('an object that has everything keeps it', () => {
  it.each(['plain', 'lock'] as const)('where its metadata are edited, twice: bucket %s', async (kind) => {
    const bucket = `edited-${kind}`;
    await whole(bucket, kind);
    const before = await shown(bucket, 'a.txt');
    await page.goto(`${server.console}/buckets/${bucket}?object=a.txt`);
    await page.getByRole('tab', { name: 'Properties' }).click();
    for (const value of ['two', 'drei: ü']) {
      await page.getByText('Grüße für 5 € 日本').waitFor();
      await page.getByRole('button', { name: 'Edit metadata' }).click();
      const names = await page
        .getByLabel(/^Name \d/)
        .evaluateAll((all) => all.map((one) => (one as unknown as { readonly value: string }).value));
      await page.getByLabel(`Value ${names.indexOf('old') + 1}`).fill(value);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Edit metadata' }).waitFor();
      await page.getByText(value, { exact: true }).waitFor();
    }
    const after = await shown(bucket, 'a.txt');
    expect(after).toEqual({ ...before, Metadata: { ...before.Metadata, old: word('drei: ü') } });
    if (kind === 'lock') expect(await versionsOf(bucket)).toBe(3);
  });

  it.each(['plain', 'versions', 'lock'] as const)('where it is renamed: bucket %s', async (kind) => {
    const bucket = `renamed-${kind}`;
    await whole(bucket, kind);
    const before = await shown(bucket, 'a.txt');
    await page.goto(`${server.console}/buckets/${bucket}`);
    await page.getByRole('button', { name: 'Actions for a.txt', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('b.txt');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('row').filter({ hasText: 'b.txt' }).waitFor();
    expect(await shown(bucket, 'b.txt')).toEqual(before);
  });

  it.each(['versions', 'lock'] as const)('where an earlier version is restored: bucket %s', async (kind) => {
    const bucket = `restored-${kind}`;
    await whole(bucket, kind);
    const before = await shown(bucket, 'a.txt');
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'a.txt', Body: 'newer' }));
    await page.goto(`${server.console}/buckets/${bucket}?object=a.txt`);
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('button', { name: /Restore the version/ }).click();
    await page.getByText('is as it was on').first().waitFor();
    expect(await shown(bucket, 'a.txt')).toEqual(before);
    expect(await versionsOf(bucket)).toBe(3);
  });

  it('and a form that another user has overtaken changes nothing', async () => {
    await whole('overtaken', 'plain');
    await page.goto(`${server.console}/buckets/overtaken?object=a.txt`);
    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.getByRole('button', { name: 'Edit metadata' }).click();
    await page.getByLabel('Content type').fill('text/css');
    await s3.send(new PutObjectCommand({ Bucket: 'overtaken', Key: 'a.txt', Body: 'newer' }));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The object was changed meanwhile').waitFor();
    expect(await shown('overtaken', 'a.txt')).not.toHaveProperty('SSEKMSKeyId');
    expect(await shown('overtaken', 'a.txt')).toMatchObject({ Metadata: {}, ContentLength: 5 });
  });
});

// A browser adds Cache-Control to a request with a condition, and S3 would store it.
it('an upload has no header that nobody chose', async () => {
  await s3.send(new CreateBucketCommand({ Bucket: 'uploaded' }));
  await page.goto(`${server.console}/buckets/uploaded`);
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Files…' }).click();
  await (await chooser).setFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('text') }]);
  await page.getByRole('row').filter({ hasText: 'a.txt' }).waitFor();
  expect(await shown('uploaded', 'a.txt')).toMatchObject({ ContentType: 'text/plain' });
  expect(await shown('uploaded', 'a.txt')).not.toHaveProperty('CacheControl');
});
