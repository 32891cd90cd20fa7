import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../../support/server/shared-server.ts';
import type { Visitor } from '../open-browser.ts';
import { startSession } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const Bucket = 'past';
let server: SharedAccess;
let visitor: Visitor;
let page: Page;
let s3: S3Client;

const put = (Key: string, Body: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body }));
const remove = (Key: string) => s3.send(new DeleteObjectCommand({ Bucket, Key }));
const textOf = async (Key: string) => (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
const keys = async () => ((await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key }) => Key);

/** A moment after the object was stored and before anything that is stored from now on; S3 tells times in seconds. */
async function momentAfter(Key: string): Promise<Date> {
  const { LastModified } = await s3.send(new HeadObjectCommand({ Bucket, Key }));
  const moment = new Date((LastModified?.getTime() ?? 0) + 1_000);
  await expect.poll(() => Date.now(), { timeout: 90_000 }).toBeGreaterThan(moment.getTime() + 100);
  return moment;
}

visitEachTest({
  server: () => sharedServer('console'),
  ready(found) {
    server = found;
    s3 = s3Client(found);
  },
  async begin(one) {
    visitor = one;
    page = one.page;
    await startSession(page, server);
  },
});

/** As the field takes it: a local time with seconds. The browser has the time zone of this process. */
function typed(moment: Date): string {
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

describe('a folder', () => {
  it('is shown as it was at a moment, and what is marked is restored as it was then', async () => {
    await s3.send(new CreateBucketCommand({ Bucket }));
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
    await put('deep/lost', 'one');
    await put('deep/changed', 'one');
    await put('kept', 'one');
    await put('top', 'one');
    const moment = await momentAfter('top');
    await put('top', 'two');
    await put('deep/changed', 'two');
    await remove('deep/lost');
    await put('later', 'two');

    const names = () => page.locator('[role=rowgroup] .row-name').allInnerTexts();
    const shown = async () => (await names()).map((name) => name.split('\n')[0]);
    await page.goto(`${server.console}/buckets/${Bucket}`);
    await expect.poll(shown, { timeout: 180_000 }).toEqual(['deep/', 'kept', 'later', 'top']);
    await page.getByRole('button', { name: 'Rewind' }).click();
    // An hour ago nothing was there but the folder, which has versions.
    await expect.poll(shown, { timeout: 180_000 }).toEqual(['deep/']);
    await page.getByLabel('Show the folder as it was at').fill(typed(moment));
    await expect.poll(shown, { timeout: 180_000 }).toEqual(['deep/', 'kept', 'top']);
    await visitor.picture('rewind');

    await page.getByLabel('Mark deep/').check();
    await page.getByLabel('Mark top').check();
    await page.getByLabel('Mark kept').check();
    await page.getByRole('button', { name: 'Restore as they were…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await dialog.getByText('3 restored, 1 still as they were, 0 failed.').waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    expect(await keys()).toEqual(['deep/changed', 'deep/lost', 'kept', 'later', 'top']);
    expect(await Promise.all(['deep/changed', 'deep/lost', 'top', 'later'].map(textOf))).toEqual([
      'one',
      'one',
      'one',
      'two',
    ]);

    await page.getByRole('link', { name: 'deep/' }).click();
    await expect.poll(shown, { timeout: 180_000 }).toEqual(['changed', 'lost']);
    await page.getByLabel('Show the folder as it was at').waitFor();
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('button', { name: 'Rewind' }).waitFor();
    await expect.poll(shown, { timeout: 180_000 }).toEqual(['changed', 'lost']);
  });
});
