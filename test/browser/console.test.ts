import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import type { Visitor } from './open-browser.ts';
import { visitEachTest } from './visit-each-test.ts';

// Whole ways through several pages, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let provider: OpenIdProviderDouble;
let server: RunningServer;
let visitor: Visitor;
let page: Page;
let files: string;

beforeAll(async () => {
  files = await mkdtemp(join(tmpdir(), 'coffer-files-'));
  provider = await OpenIdProviderDouble.start({
    users: [
      { username: 'alice', claims: { policy: 'readwrite' } },
      { username: 'rita', claims: { policy: 'readonly' } },
      { username: 'carol', claims: {} },
    ],
  });
});

afterAll(async () => {
  await provider?.close();
  await rm(files, { recursive: true, force: true });
});

visitEachTest({
  server: () =>
    startServer({
      env: {
        SVC_IDENTITY_OPENID_CONFIG_URL_DEMO: provider.configUrl,
        SVC_IDENTITY_OPENID_CLIENT_ID_DEMO: 'coffer',
        SVC_IDENTITY_OPENID_CLIENT_SECRET_DEMO: 'coffer-secret',
        SVC_IDENTITY_OPENID_DISPLAY_NAME_DEMO: 'Sign in with Demo',
      },
    }),
  ready(started) {
    server = started;
    provider.realm.clients.get('coffer')?.redirectUris.push(`${server.console}/oauth_callback`);
  },
  async begin(one) {
    visitor = one;
    page = one.page;
    await page.goto(server.console);
  },
});

async function signInByKeys(): Promise<void> {
  await page.getByLabel('Access key').fill(server.accessKey);
  await page.getByLabel('Secret key').fill(server.secretKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page
    .getByRole('heading', { name: /Buckets|No buckets yet/ })
    .first()
    .waitFor();
}

async function signInBy(username: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Demo' }).click();
  await page.locator('#username').fill(username);
  await page.locator('#password').fill(`${username}-password`);
  await page.locator('#login').click();
}

async function createBucket(name: string): Promise<void> {
  await page.getByRole('button', { name: 'Create bucket' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Create bucket' }).click();
  await page.getByText('Nothing in here').waitFor();
}

async function upload(...names: string[]): Promise<void> {
  const paths = names.map((name) => join(files, name));
  for (const [index, path] of paths.entries()) await writeFile(path, `content of ${names[index]}`);
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Files…' }).click();
  await (await chooser).setFiles(paths);
}

const row = (name: string) => page.getByRole('row').filter({ hasText: name });

async function rightEdge(one: Locator): Promise<number> {
  const { x = 0, width = 0 } = (await one.boundingBox()) ?? {};
  return Math.round(x + width);
}

describe('the console in a browser', () => {
  it('refuses wrong keys with a message, and accepts the right ones', async () => {
    await page.getByLabel('Access key').fill(server.accessKey);
    await page.getByLabel('Secret key').fill('not the secret');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('do not match').waitFor();
    await visitor.picture('wrong-keys');
    await signInByKeys();
    await visitor.picture('buckets');
  });

  it('creates a bucket, uploads into it, downloads from it, and deletes', async () => {
    await signInByKeys();
    await createBucket('by-keys');
    await upload('one.txt', 'two.txt');
    await page.getByText('2 uploaded').waitFor();
    await row('one.txt').waitFor();
    await visitor.picture('uploaded');

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download one.txt' }).click();
    const saved = await download;
    expect(saved.suggestedFilename()).toBe('one.txt');
    expect(await readFile(await saved.path(), 'utf8')).toBe('content of one.txt');

    await page.getByRole('link', { name: 'two.txt' }).click();
    await page.getByRole('complementary').getByText('text/plain').waitFor();
    await visitor.picture('details');
    await page.getByRole('complementary').getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await row('two.txt').waitFor({ state: 'detached' });
    await row('one.txt').waitFor();
  });

  it('asks before an upload replaces an object', async () => {
    await signInByKeys();
    await createBucket('replacing');
    await upload('same.txt');
    await page.getByText('1 uploaded').waitFor();
    await upload('same.txt');
    await page.getByText('already there').waitFor();
    await page.getByRole('button', { name: 'Replace' }).click();
    await page.getByText('2 uploaded').waitFor();
  });

  it('navigates through folders, and back by the browser’s button', async () => {
    await signInByKeys();
    await createBucket('folders');
    await page.evaluate(async () => {
      for (const key of ['a/b/deep.txt', 'a/top.txt', '../odd', 'a//twice']) {
        await fetch(`/api/s3/folders?key=${encodeURIComponent(key)}`, {
          method: 'PUT',
          headers: { 'x-coffer-console': '1' },
          body: key,
        });
      }
    });
    await page.reload();
    await page.getByRole('link', { name: 'a/', exact: true }).click();
    await page.getByRole('link', { name: 'b/', exact: true }).click();
    await page.getByRole('link', { name: 'deep.txt' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'top.txt' }).waitFor();
    await page.getByRole('link', { name: 'folders', exact: true }).click();
    await page.getByRole('link', { name: '../', exact: true }).click();
    await page.getByRole('link', { name: 'odd' }).waitFor();
  });

  it('signs in by single sign-on, opens the wanted page, and shows the policies in force', async () => {
    await page.goto(`${server.console}/account`);
    await signInBy('alice');
    await page.getByRole('heading', { name: 'readwrite' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/account');
    await page.getByText('every S3 action').waitFor();
    await visitor.picture('account');
  });

  it('names the missing claim on the sign-in page', async () => {
    await signInBy('carol');
    await page.getByRole('alert').getByText('"policy"').waitFor();
    await visitor.picture('no-policy');
  });

  it('explains to a user with the policy readonly what is not allowed', async () => {
    await signInByKeys();
    await createBucket('for-rita');
    await upload('known.txt');
    await page.getByText('1 uploaded').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signInBy('rita');
    await page.getByRole('link', { name: 'for-rita' }).click();
    await page.getByText('Your policy (readonly) does not allow s3:ListBucket on for-rita').waitFor();
    await page.getByText('look only').waitFor();
    expect(await page.getByRole('button', { name: 'Upload', exact: true }).count()).toBe(0);
    await visitor.picture('refused');
    await page.getByLabel('Open an object by its key').fill('known.txt');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    const details = page.getByRole('complementary');
    await details.getByText('20 B').waitFor();
    // It is as far to the right as the buttons of the page.
    expect(await rightEdge(details)).toBe(await rightEdge(page.getByRole('link', { name: 'Settings' }).last()));
    expect(await page.getByRole('button', { name: 'Delete…' }).count()).toBe(0);
  });

  it('signs out for good', async () => {
    await signInByKeys();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Access key').waitFor();
    await page.goto(`${server.console}/buckets`);
    await page.getByLabel('Access key').waitFor();
  });

  it('can be used by keyboard alone', async () => {
    await page.getByLabel('Access key').focus();
    await page.keyboard.type(server.accessKey);
    await page.keyboard.press('Tab');
    await page.keyboard.type(server.secretKey);
    await page.keyboard.press('Enter');
    const create = page.getByRole('button', { name: 'Create bucket' }).first();
    await create.waitFor();
    await create.focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name', { exact: true }).waitFor();
    const focused = () => page.evaluate('document.activeElement?.tagName');
    await expect.poll(focused, { timeout: 180_000 }).toBe('INPUT');
    await page.keyboard.type('by-keyboard');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing in here').waitFor();
  });
});
