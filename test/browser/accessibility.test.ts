import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, PutBucketVersioningCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { axeFindings } from './axe.ts';
import { followPath } from './follow-path.ts';
import { endVisit, leaveBrowser, newVisitor, openBrowser, painted, type Visitor } from './open-browser.ts';
import { pages } from './pages.ts';
import { send, startSession } from './sign-in.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const widths = [390, 768, 1440];
const schemes = ['light', 'dark'] as const;

let server: RunningServer;
let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  const audit = join(await mkdtemp(join(tmpdir(), 'coffer-audit-')), 'audit.log');
  server = await startServer({ env: { SVC_AUDIT_FILE: audit } });
  await untilReady(server);
  const s3 = s3Client(server);
  const Bucket = 'research';
  await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  for (const Key of [
    'a.json',
    'folder/b',
    'a-name-that-is-much-too-long-for-the-cell-of-a-telephone-and-still-has-to-end.txt',
  ]) {
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: '{"a":1}', ContentType: 'application/json' }));
  }
  browser = await openBrowser();
  visitor = await newVisitor(browser);
  const { page } = visitor;
  await startSession(page, server);
  // A user whose rights the pages about rights show.
  await send(page, server, 'POST', 'users', { name: 'rita', policies: ['readonly'] });
});

afterAll(async () => {
  await leaveBrowser(browser);
  await server?.stop();
});

/** Everything that is wider than the window. */
const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

async function expectAccessible(page: Page): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.evaluate(painted);
      const place = `${page.url()} ${colorScheme} ${width}`;
      // Both schemes have the same elements, in other colours.
      expect.soft(await axeFindings(page, colorScheme === 'dark' ? 'colours' : 'all'), place).toEqual([]);
      expect.soft(await page.evaluate(tooWide), `${place}: wider than the window`).toBe(0);
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

it('has no finding on the sign-in page', async () => {
  const other = await newVisitor(browser);
  await other.page.goto(server.console);
  await other.page.getByLabel('Access key').waitFor();
  await expectAccessible(other.page);
  expect(await endVisit(other)).toEqual([]);
});

/** The audit log first: it grows with each page. */
const inOrder = pages.toSorted(([a], [b]) => Number(b === 'audit') - Number(a === 'audit'));

it.each(inOrder)('has no finding on the page %s', async (path, text) => {
  const { page } = visitor;
  await page.setViewportSize({ width: 1440, height: 900 });
  await followPath(page, server.console, path);
  await page.getByText(text).first().waitFor();
  await expect.poll(() => page.getByLabel('Loading').count(), { timeout: 180_000 }).toBe(0);
  await expectAccessible(page);
});
