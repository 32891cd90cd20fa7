import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import { endVisit, newVisitor, openBrowser, type Visitor } from './open-browser.ts';
import { signIn } from './sign-in.ts';
import { visitEachTest } from './visit-each-test.ts';

// Whole ways through several pages, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let folder: string;
let server: RunningServer;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-audit-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

visitEachTest({
  server: () => startServer({ env: { SVC_AUDIT_FILE: join(folder, 'audit.log') } }),
  ready(started) {
    server = started;
  },
  begin(one) {
    visitor = one;
    page = one.page;
  },
});

const patient = { timeout: 180_000 };
const open = (name: string) =>
  page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true }).click();
const dialog = () => page.getByRole('dialog');
const askForBuckets = () => s3Client(server).send(new ListBucketsCommand({}));

describe('operations in a browser', () => {
  it('tells whether the service is well, and shows its requests, log, work and settings as they are', async () => {
    await signIn(page, server);
    await open('Status');
    await page.getByRole('region', { name: 'Health' }).getByRole('status').waitFor();
    await visitor.picture('health');

    await open('Requests');
    await page.getByText('Waiting for requests').waitFor();
    const seen = page.getByRole('button', { name: 'ListBuckets' }).first();
    await expect.poll(() => askForBuckets().then(() => seen.count()), patient).toBeGreaterThan(0);
    await visitor.picture('requests');
    await page.getByRole('button', { name: 'Pause' }).click();
    await seen.click();
    await dialog().getByText('"s3.ListBuckets"').waitFor();
    expect(await dialog().innerText()).not.toMatch(/Signature=[0-9a-f]/);
    await page.keyboard.press('Escape');

    await open('Logs');
    await page.getByText('ready', { exact: true }).first().waitFor();
    await visitor.picture('logs');

    await open('Audit log');
    await page.getByLabel('Operation').fill('ListBuckets');
    await page.getByRole('button', { name: 'ListBuckets' }).first().waitFor();
    await visitor.picture('audit');
    await page.getByLabel('Operation').fill('ConsoleGetSession');
    await page.getByText(/reads? that (?:an open page|open pages) repeated by/).waitFor();
    expect(await page.getByRole('button', { name: 'ConsoleGetSession' }).count()).toBe(0);
    await page.getByLabel('Refreshes of pages too').check();
    await page.getByRole('button', { name: 'ConsoleGetSession' }).first().waitFor();

    await open('Background work');
    await page.getByRole('button', { name: 'Pause: Count objects and bytes' }).click();
    await page.getByRole('button', { name: 'Go on: Count objects and bytes' }).click();
    await page.getByRole('button', { name: 'Pause: Count objects and bytes' }).waitFor();
    await page.getByRole('button', { name: 'Verify the store' }).click();
    await page.getByText('Nothing is wrong. Checked: 0 objects').waitFor();
    await visitor.picture('work');

    await open('Configuration');
    await page.getByRole('button', { name: /^site/ }).click();
    await page.getByText('SVC_REGION', { exact: true }).waitFor();
    await visitor.picture('configuration');

    await open('Keys');
    await page.getByRole('heading', { name: 'No key service' }).waitFor();
  });

  it.each([
    [
      'en-GB',
      /^2 findings\. Checked: 1,200 objects, 3 older versions and delete markers and 7\.0 KiB read\.$/,
      'Damaged body',
    ],
    [
      'de-DE',
      /^2 Befunde\. Geprüft: 1\.200 Objekte, 3 ältere Versionen und Löschmarkierungen und 7,0 KiB gelesen\.$/,
      'Inhalt beschädigt',
    ],
    ['zh-CN', /^2 个发现。 已检查：1,200 个对象、3 个旧版本和删除标记和已读取 7\.0 KiB。$/, '内容损坏'],
  ])('says in words what a verification found, in %s', async (locale, words, kind) => {
    const other = await newVisitor(await openBrowser(), { locale });
    await other.page.goto(`${server.console}/sign-in`);
    await other.page.locator('input[name=username]').fill(server.accessKey);
    await other.page.locator('input[name=password]').fill(server.secretKey);
    await other.page.locator('form button[type=submit]').click();
    await other.page.locator('#content h1').waitFor();
    const findings = [
      { kind: 'damaged-body', bucket: 'photos', key: 'a.jpg', versionId: 'v1', message: 'blob b1 is damaged' },
      { kind: 'orphan-blob', blob: 'b2', message: 'blob b2 has no owner' },
    ];
    const summary = { objects: 1_200, versions: 3, uploads: 0, blobs: 0, bytes: 7_168, findings: 2 };
    await other.page.route('**/coffer/verify?**', (route) =>
      route.fulfill({ json: { findings, more: false, summary } }),
    );
    await other.page.goto(`${server.console}/work`);
    await other.page
      .locator('#content section button')
      .filter({ hasText: /Verify|prüfen|校验/ })
      .click();
    await other.page.getByRole('status').getByText(words).waitFor();
    const row = other.page.getByRole('row').filter({ hasText: kind });
    expect(await row.innerText()).toContain('photos/a.jpg');
    expect(await row.innerText()).toContain('v1');
    expect(await other.page.locator('#content').innerText()).not.toMatch(/damaged-body|orphan-blob|versionId|"kind"/);
    expect(await endVisit(other)).toEqual([]);
  });

  it('ends a session, whose user signs in again in place and loses nothing that was typed', async () => {
    await signIn(page, server);
    await open('Users');
    await page.getByRole('button', { name: 'Create user' }).first().click();
    await dialog().getByLabel('Name', { exact: true }).fill('olga');
    await dialog().getByRole('combobox', { name: 'Policies' }).fill('readwrite');
    await page.getByRole('option', { name: 'readwrite', exact: true }).click();
    await page.keyboard.press('Escape');
    await dialog().getByRole('button', { name: 'Create user' }).click();
    await dialog().getByText('it is not shown again').waitFor();
    const secretKey = (await dialog().locator('dd .mono').nth(1).innerText()).trim();
    await dialog().getByRole('button', { name: 'I have kept it' }).click();
    const other = await newVisitor(await openBrowser());
    await signIn(other.page, server, 'olga', secretKey);
    await other.page.getByRole('button', { name: 'Create bucket' }).first().click();
    const form = other.page.getByRole('dialog').filter({ hasText: 'Create bucket' });
    await form.getByLabel('Name', { exact: true }).fill('typed-before');

    await open('Sessions');
    await page.getByRole('row').filter({ hasText: 'olga' }).getByText('access key', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'End the session of olga' }).click();
    await dialog().getByRole('button', { name: 'End the session' }).click();
    await page.getByRole('button', { name: 'End the session of olga' }).waitFor({ state: 'detached' });
    await visitor.picture('sessions');

    await form.getByRole('button', { name: 'Create bucket' }).click();
    await other.page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await other.picture('session-ended');
    await other.page.getByLabel('Secret key of olga').fill(secretKey);
    await other.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.page.getByRole('heading', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    await form.getByRole('button', { name: 'Create bucket' }).click();
    await other.page.getByRole('link', { name: 'typed-before' }).waitFor();
    expect(await endVisit(other)).toEqual([]);
  });

  // The last test: until then the server has measured for long enough to draw a line.
  it('draws the traffic of the last minutes', async () => {
    await signIn(page, server);
    await open('Traffic');
    await page.getByRole('img', { name: /^Time to the first byte\./ }).waitFor();
    await visitor.picture('traffic');
  });
});
