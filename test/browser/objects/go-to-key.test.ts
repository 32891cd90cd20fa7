import { CreateBucketCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../../support/server/shared-server.ts';
import { leaveBrowser, newVisitor, openBrowser, type Visitor } from '../open-browser.ts';
import { startSession } from '../sign-in.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const bucket = 'known-keys';
const keys = [
  'a.txt',
  'deep/er/a.txt',
  'known-keys/a.txt',
  'percent 50% #1 a+b?c=d&e.txt',
  'ümlaut/日本 😀.txt',
  'a/../b',
  'double//slash',
  '.hidden',
];

let server: SharedAccess;
let browser: Browser;
let visitor: Visitor;
let page: Page;
let s3: S3Client;

beforeAll(async () => {
  server = await sharedServer('console');
  s3 = s3Client(server);
  for (const Bucket of [bucket, 'other-keys']) await s3.send(new CreateBucketCommand({ Bucket }));
  for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: Key }));
  await s3.send(new PutObjectCommand({ Bucket: 'other-keys', Key: 'there', Body: 'there' }));
  browser = await openBrowser();
  visitor = await newVisitor(browser);
  page = visitor.page;
  await startSession(page, server);
});

afterAll(async () => {
  await leaveBrowser(browser);
});

beforeEach(async () => {
  await page.goto(`${server.console}/buckets/${bucket}`);
  await page.getByRole('link', { name: 'a.txt', exact: true }).waitFor();
});

afterEach(() => {
  expect(visitor.complaints).toEqual([]);
});

async function go(path: string): Promise<void> {
  await page.getByRole('button', { name: 'Type a path or key' }).click();
  await page.getByLabel('Path or key').fill(path);
  await page.keyboard.press('Enter');
}

const panel = () => page.getByRole('complementary', { name: /^Details of / });

/** The details show the key, and stay when all that the page asked for has been answered. */
async function expectDetails(key: string): Promise<void> {
  await panel().getByText('Content type').waitFor();
  await visitor.untilAnswered();
  expect(await panel().locator('dd').first().innerText()).toBe(key);
}

describe('a key that is typed into the path', () => {
  it.each(keys)('opens the details of %j, also after a reload, and back and forward', async (key) => {
    await go(`${bucket}/${key}`);
    await expectDetails(key);
    await page.reload();
    await expectDetails(key);
    await page.goBack();
    await panel().waitFor({ state: 'detached' });
    await page.goForward();
    await expectDetails(key);
    await page.getByRole('button', { name: 'Close details' }).click();
    await panel().waitFor({ state: 'detached' });
    expect(await page.locator('h1').innerText()).not.toBe('');
  });

  it.each(['a.txt', 'deep/er/a.txt'])(
    'is looked for in the bucket of the page where it names no bucket: %j',
    async (key) => {
      await go(key);
      await expectDetails(key);
      expect(new URL(page.url()).pathname).toBe(`/buckets/${bucket}`);
    },
  );

  it('opens another bucket that the user sees, at once too', async () => {
    await go('other-keys/there');
    await expectDetails('there');
    expect(new URL(page.url()).pathname).toBe('/buckets/other-keys');
  });

  it('says that there is no such object, and no such bucket', async () => {
    await go('not/there.txt');
    await panel().getByText('There is no current object with this key').waitFor();
    await panel().getByText('There is no version of this key.').waitFor();
    await page.getByText('Nothing in here').waitFor();
    await go('s3://no-such-bucket/x');
    await page.getByRole('alert').getByText('no-such-bucket cannot be shown').waitFor();
    expect(
      await page
        .locator('#content')
        .getByRole('button', { name: /Upload|Folder/ })
        .count(),
    ).toBe(0);
    expect(await panel().count()).toBe(0);
  });

  it('keeps the focus on the page when it is left', async () => {
    await page.getByRole('button', { name: 'Type a path or key' }).click();
    await page.keyboard.press('Escape');
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Type a path or key');
  });
});
