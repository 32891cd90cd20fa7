import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  PutBucketEncryptionCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../../support/server/start-server.ts';
import { followPath } from '../follow-path.ts';
import { endVisit, leaveBrowser, newVisitor, openBrowser, type Visitor } from '../open-browser.ts';
import { pages } from '../pages.ts';
import { send, startSession } from '../sign-in.ts';
import { layoutFindings } from './layout-findings.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const width = 390;
const longName = 'a-name-that-is-much-too-long-for-the-cell-of-a-phone-and-ends-here';
/** Nothing in it lets a line break. */
const unbrokenName = `${'x'.repeat(180)}.parquet`;
const keyName = 'a_key_with_a_long_name_that_has_no_place_where_a_line_could_break_and_ends_here';

let folder: string;
let server: RunningServer;
let browser: Browser;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-phone-'));
  server = await startServer({
    env: {
      SVC_AUDIT_FILE: join(folder, 'audit.log'),
      SVC_KMS_SECRET_KEY: `${keyName}:${Buffer.alloc(32, 7).toString('base64')}`,
    },
  });
  await untilReady(server);
  await fill();
  browser = await openBrowser();
  visitor = await newVisitor(browser, { phone: true });
  page = visitor.page;
  await startSession(page, server);
  await fillIdentities();
});

afterAll(async () => {
  await leaveBrowser(browser);
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function fill(): Promise<void> {
  const s3 = s3Client(server);
  const Bucket = 'research';
  await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  await s3.send(new CreateBucketCommand({ Bucket: longName.slice(0, 63) }));
  await s3.send(new CreateBucketCommand({ Bucket: 'with-a-key' }));
  await s3.send(
    new PutBucketEncryptionCommand({
      Bucket: 'with-a-key',
      ServerSideEncryptionConfiguration: {
        Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: keyName } }],
      },
    }),
  );
  for (const Key of ['a.json', 'folder/b', `${longName}.txt`, `names/${'y'.repeat(90)}/${unbrokenName}`]) {
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: '{"a":1}', ContentType: 'application/json' }));
  }
}

const create = (path: string, what: object) => send(page, server, 'POST', path, what);

/** Users, groups and access keys, some with long names. */
async function fillIdentities(): Promise<void> {
  await create('groups', { name: 'researchers', policies: ['readwrite', 'diagnostics'] });
  await create('users', { name: 'rita', policies: ['readonly'], groups: ['researchers'] });
  await create('users', { name: longName, policies: ['readwrite', 'consoleAdmin'] });
  await create('access-keys', { owner: 'rita', name: longName.slice(0, 32), expires: '2031-01-31T00:00:00Z' });
}

const sideways = 'document.scrollingElement.scrollWidth';

async function open(path: string, text: string): Promise<void> {
  await followPath(page, server.console, path);
  await page.locator('#content, [role=dialog]').getByText(text).first().waitFor();
  await expect.poll(() => page.getByLabel('Loading').count(), { timeout: 180_000 }).toBe(0);
}

async function expectFits(what: string, selector?: string): Promise<void> {
  expect.soft(await page.evaluate(sideways), `${what} scrolls sideways`).toBeLessThanOrEqual(width);
  expect.soft(await layoutFindings(page, selector), what).toEqual([]);
}

/** Opens each dialog, menu and form of the page, and checks it. */
async function expectDialogsFit(path: string): Promise<void> {
  const content = page.locator('#content');
  // The rows of a log are buttons too, by the names of calls.
  const named = page.getByRole('button', { name: /…$|^(?:Actions for|Create|Add|Edit|Start|Import)/ });
  const buttons = content.locator('button:not(.row-name)').and(named);
  const names = new Set(
    await buttons.evaluateAll((found) => found.map((one) => one.ariaLabel ?? one.textContent ?? '')),
  );
  for (const name of names) {
    await content.getByRole('button', { name, exact: true }).first().click();
    const panel = page.locator('[role=dialog], [role=menu]');
    const cancel = content.getByRole('button', { name: 'Cancel' });
    await panel.or(cancel).first().waitFor();
    if ((await panel.count()) === 0) {
      await expectFits(`${path}: ${name}`);
      await cancel.first().click();
      continue;
    }
    await expectPanelFits(`${path}: ${name}`, panel.first());
    // The first Escape closes the list of choices of the field that has the focus.
    await expect
      .poll(async () => {
        await page.keyboard.press('Escape');
        return panel.count();
      })
      .toBe(0);
  }
}

async function expectPanelFits(what: string, panel: Locator): Promise<void> {
  const role = (await panel.getAttribute('role')) ?? '';
  const { x = 0, width: wide = 0 } = (await panel.boundingBox()) ?? {};
  expect.soft(x, what).toBeGreaterThanOrEqual(0);
  expect.soft(x + wide, what).toBeLessThanOrEqual(width);
  await expectFits(what, `[role=${role}]`);
  if (role === 'menu') return;
  const last = panel.getByRole('button').last();
  // A preview above it moves it when it is loaded.
  await expect
    .poll(
      async () => {
        await last.scrollIntoViewIfNeeded();
        const { y = 0, height = 0 } = (await last.boundingBox()) ?? {};
        return y + height;
      },
      { message: `${what}: its last button`, timeout: 60_000 },
    )
    .toBeLessThanOrEqual(844);
}

it('shows the sign-in page', async () => {
  const other = await newVisitor(browser, { phone: true });
  await other.page.goto(`${server.console}/sign-in`);
  await other.page.getByLabel('Access key').waitFor();
  expect(await layoutFindings(other.page)).toEqual([]);
  expect(await other.page.evaluate(sideways)).toBeLessThanOrEqual(width);
  expect(await endVisit(other)).toEqual([]);
});

it.each([
  ...pages.filter(([path]) => path !== 'keys'),
  ['keys', 'Default key'] as const,
  ['group?name=researchers', 'Members'] as const,
  [`user?name=${longName}`, 'Rights in buckets'] as const,
])('shows the page %s and its dialogs', async (path, text) => {
  await open(path, text);
  if (path.includes('object=')) return expectPanelFits(path, page.getByRole('dialog'));
  await expectFits(path);
  return expectDialogsFit(path);
});

it('says what is not encrypted, and where that is changed', async () => {
  await open('buckets', 'research');
  await page.locator('.rows').getByText('Encryption: none').first().waitFor();
  await open('buckets/research/settings', 'Public access block');
  await page.getByRole('region', { name: 'Default encryption' }).getByText('SSE-S3 and SSE-KMS').waitFor();
});

it('keeps tabs and times in one line each', async () => {
  const lines = (selector: string) =>
    page.locator(selector).evaluateAll((found) => found.map((one) => Math.round(one.getBoundingClientRect().height)));
  await open('policy?name=readonly', 'readonly');
  const tops = await page.getByRole('tab').evaluateAll((tabs) => tabs.map((tab) => tab.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(1);
  await open('sessions', 'this one');
  for (const height of await lines('.rows time:visible')) expect(height).toBeLessThan(30);
});

it('shows why a person is allowed, without a broken word', async () => {
  await open('explain?who=rita', 'Explain');
  await page.getByLabel('Action').fill('s3:PutObject');
  await page.getByLabel('Resource').fill('research/a.json');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('rita: allowed').waitFor();
  await expectFits('the decision');
});

it('has a menu with every page, which closes when a page opens', async () => {
  await open('buckets', 'research');
  const menu = page.getByRole('navigation', { name: 'Console' });
  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  await expect.poll(async () => (await menu.boundingBox())?.x).toBe(0);
  await expectFits('the menu', 'nav[aria-label=Console]');
  await menu.getByRole('link', { name: 'Configuration' }).tap();
  await page.getByRole('heading', { name: 'Configuration', level: 1 }).waitFor();
  await menu.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  await menu.getByRole('button', { name: 'Close the menu' }).tap();
  await menu.waitFor({ state: 'hidden' });
});

it('opens the details of a key that is typed, and closes them', async () => {
  await open('buckets/research', 'a.json');
  await page.getByRole('button', { name: 'Type a path or key' }).tap();
  await page.getByLabel('Path or key').fill('folder/b');
  await page.keyboard.press('Enter');
  const details = page.getByRole('dialog');
  await details.getByText('Content type').waitFor();
  await visitor.untilAnswered();
  await expectFits('the details of an object', '[role=dialog]');
  await details.getByRole('button', { name: 'Close details' }).tap();
  await details.waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('prefix')).toBe('folder/');
});

it('shows the end of a long name in every row, path, dialog and upload', async () => {
  const prefix = `names/${'y'.repeat(90)}/`;
  await open(`buckets/research?prefix=${prefix}`, unbrokenName);
  await expectFits('the folder');
  for (const item of ['Share…', 'Rename…', 'Move…', 'Copy…', 'Delete…']) {
    await page.getByRole('button', { name: `Actions for ${unbrokenName}`, exact: true }).click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.getByRole('dialog').waitFor();
    await expectPanelFits(`the dialog ${item}`, page.getByRole('dialog'));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await page.getByRole('link', { name: unbrokenName }).click();
  const details = page.getByRole('dialog');
  await details.getByText('Content type').waitFor();
  await expectPanelFits('the details', details);
  await details.getByRole('tab', { name: 'Versions' }).click();
  await details.getByText('current').waitFor();
  await expectPanelFits('the versions', details);
  await details.getByRole('button', { name: 'Close details' }).click();
  await details.waitFor({ state: 'detached' });
  const file = { name: `up-${unbrokenName}`, mimeType: 'text/plain', buffer: Buffer.from('content') };
  await page.locator('input[type=file]').first().setInputFiles(file);
  await page.locator('.tray').getByText(file.name).waitFor();
  await expectFits('the uploads', '.tray');
});

it('complains about nothing', () => {
  expect(visitor.complaints).toEqual([]);
});
