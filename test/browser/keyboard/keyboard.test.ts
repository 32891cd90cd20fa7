import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { buildConsole, consoleIsBuilt } from '../../../console/build.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../../support/server/start-server.ts';
import { keyboard, type Hands } from '../jobs/hands.ts';
import { signIn, startSession } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: RunningServer;
let page: Page;
let keys: Hands;

beforeAll(async () => {
  if (!consoleIsBuilt()) await buildConsole();
});

visitEachTest({
  server: () => startServer({ console: true }),
  async ready(started) {
    server = started;
    const s3 = s3Client(server);
    await s3.send(new CreateBucketCommand({ Bucket: 'research' }));
    for (const Key of ['a.json', 'b.json', 'c.json', 'd.json']) {
      await s3.send(new PutObjectCommand({ Bucket: 'research', Key, Body: '{}' }));
    }
  },
  begin(one) {
    page = one.page;
    keys = keyboard(page);
  },
});

const content = () => page.locator('#content');
const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const rowMenu = (name: string) => button(`Actions for ${name}`);

/** Waits until this has the focus. */
const focused = (target: Locator) => target.and(page.locator(':focus')).waitFor();

/** The name, or else the content, of what has the focus. */
const focusedText = () => page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.outerHTML');

/** `signIn` waits for a link of the frame, which a narrow window hides. */
async function signInTo(path: string): Promise<void> {
  await startSession(page, server);
  await page.goto(`${server.console}/${path}`);
  await content().getByLabel('Filter Buckets').waitFor();
}

async function openFolder(): Promise<void> {
  await startSession(page, server);
  await page.goto(`${server.console}/buckets/research`);
  await rowMenu('d.json').waitFor();
}

describe('a new page', () => {
  it('has the focus in its content after the sign-in, so that Tab does not go through the frame', async () => {
    await page.goto(`${server.console}/sign-in`);
    await keys.type(page.getByLabel('Access key'), server.accessKey);
    await keys.type(page.getByLabel('Secret key'), server.secretKey);
    await keys.enter();
    await focused(content());
    // The list may come after the focus.
    await content().getByLabel('Filter Buckets').waitFor();
    await page.keyboard.press('Tab');
    await focused(content().getByLabel('Filter Buckets'));
  });

  it('has the focus in its content when a link of the frame or of a list opened it', async () => {
    await signIn(page, server);
    await keys.press(page.getByRole('link', { name: 'Users', exact: true }));
    await content().getByText('No users yet').waitFor();
    await focused(content());
    await page.goBack();
    await keys.press(page.getByRole('link', { name: 'research', exact: true }));
    await rowMenu('a.json').waitFor();
    await focused(content());
  });

  it('leaves the first Tab to the skip link when the document is loaded', async () => {
    await signIn(page, server);
    await page.keyboard.press('Tab');
    await focused(page.getByRole('link', { name: 'Skip to the content' }));
  });
});

describe('the menu of a narrow window', () => {
  it('takes the focus when it opens, gives it back, and is not in the way of Tab while it is closed', async () => {
    await page.setViewportSize({ width: 768, height: 900 });
    await signInTo('buckets');
    const menu = page.getByRole('navigation', { name: 'Console' });
    await menu.waitFor({ state: 'hidden' });
    await keys.press(button('Menu'));
    await focused(menu.getByRole('button', { name: 'Close the menu' }));
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    await focused(button('Menu'));
    // The name of the console in the header, and then the content.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await focused(content().getByLabel('Filter Buckets'));
    await keys.press(button('Menu'));
    await keys.press(menu.getByRole('link', { name: 'Users', exact: true }));
    await content().getByText('No users yet').waitFor();
    await menu.waitFor({ state: 'hidden' });
    await focused(content());
  });

  it('is closed by the page behind it', async () => {
    await page.setViewportSize({ width: 768, height: 900 });
    await signInTo('buckets');
    await button('Menu').click();
    const menu = page.getByRole('navigation', { name: 'Console' });
    await menu.waitFor();
    await page.mouse.click(700, 400);
    await menu.waitFor({ state: 'hidden' });
  });
});

describe('a menu', () => {
  it('opens with the focus on its first item, and gives it back', async () => {
    await openFolder();
    await keys.press(button('Upload'));
    await focused(page.getByRole('menuitem', { name: 'Files…' }));
    await page.keyboard.press('Escape');
    await focused(button('Upload'));
  });

  it.each([
    ['Upload', 'Tab'],
    ['Upload', 'Shift+Tab'],
    ['Actions for b.json', 'Tab'],
    ['Actions for b.json', 'Shift+Tab'],
  ])('%s closes with %s, which goes on from its button', async (name, key) => {
    await openFolder();
    // The first click puts the button of a row in the place of a lighter one.
    await keys.press(button(name));
    await page.getByRole('menuitem').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await focused(button(name));
    await page.keyboard.press(key);
    const next = await focusedText();
    await button(name).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem').and(page.locator(':focus')).waitFor();
    await page.keyboard.press(key);
    await page.getByRole('menu').waitFor({ state: 'detached' });
    expect(await focusedText()).toBe(next);
    await button(name).and(page.locator('[aria-expanded=false]')).waitFor();
  });

  it.each(['Upload', 'Actions for b.json'])('%s opens with the arrow down', async (name) => {
    await openFolder();
    await button(name).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem').first().and(page.locator(':focus')).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('menuitem').last().and(page.locator(':focus')).waitFor();
  });

  it('has the focus on its first item when the rights come after it', async () => {
    await openFolder();
    const released = Promise.withResolvers<void>();
    await page.route('**/api/**', async (route) => {
      await released.promise;
      await route.continue();
    });
    await keys.press(rowMenu('b.json'));
    await focused(page.getByRole('menu'));
    released.resolve();
    await page.getByRole('menuitem').first().and(page.locator(':focus')).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});

describe('a dialog', () => {
  it.each(['Share…', 'Rename…', 'Delete…'])('%s gives the focus back to the menu that opened it', async (item) => {
    await openFolder();
    await keys.choose(rowMenu('a.json'), item);
    await dialog().locator(':focus').waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await focused(rowMenu('a.json'));
  });

  it('that deletes an object leaves the focus at the row that took its place', async () => {
    await openFolder();
    await keys.choose(rowMenu('b.json'), 'Delete…');
    await focused(dialog().getByRole('button', { name: 'Cancel' }));
    await keys.press(dialog().getByRole('button', { name: 'Delete', exact: true }));
    await rowMenu('b.json').waitFor({ state: 'detached' });
    await focused(content().getByRole('row').filter({ hasText: 'c.json' }).locator('button'));
  });

  it('that deletes marked objects leaves the focus in the content', async () => {
    await openFolder();
    await keys.press(page.getByLabel('Mark a.json'));
    await keys.press(button('Delete…'));
    await keys.press(dialog().getByRole('button', { name: 'Delete', exact: true }));
    await dialog().waitFor({ state: 'detached' });
    await rowMenu('a.json').waitFor({ state: 'detached' });
    await content().and(page.locator(':focus')).or(content().locator(':focus')).waitFor();
  });

  it('that the server refuses keeps the focus at its button', async () => {
    await signIn(page, server);
    await keys.press(button('Create bucket'));
    await keys.type(dialog().getByLabel('Name'), 'research');
    await keys.press(dialog().getByRole('button', { name: 'Create bucket' }));
    await dialog().getByRole('alert').waitFor();
    await focused(dialog().getByRole('button', { name: 'Create bucket' }));
  });
});

describe('the details of an object', () => {
  it('take the focus, and give it back to the row', async () => {
    await openFolder();
    const row = page.getByRole('link', { name: 'd.json', exact: true });
    await keys.press(row);
    const details = page.getByRole('complementary', { name: 'Details of d.json' });
    await focused(details);
    await keys.press(page.getByRole('button', { name: 'Close details' }));
    await details.waitFor({ state: 'detached' });
    await focused(row);
  });

  it('close with Escape', async () => {
    await openFolder();
    const row = page.getByRole('link', { name: 'd.json', exact: true });
    await keys.press(row);
    const details = page.getByRole('complementary', { name: 'Details of d.json' });
    await focused(details);
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'detached' });
    await focused(row);
  });
});

describe('a user', () => {
  it('is created, given a policy and deleted, and the focus never leaves the page', async () => {
    await signIn(page, server);
    await keys.press(page.getByRole('link', { name: 'Users', exact: true }));
    await keys.press(button('Create user'));
    await focused(dialog().getByLabel('Name'));
    await page.keyboard.insertText('rita');
    await keys.press(dialog().getByRole('button', { name: 'Create user' }));
    await keys.press(button('I have kept it'));
    await focused(button('Create user'));
    await keys.press(page.getByRole('link', { name: 'rita', exact: true }));
    await keys.press(button('Policies…'));
    // The dialog opens at its close button: the list of the field would cover the dialog of a phone.
    await dialog().locator(':focus').waitFor();
    await page.keyboard.press('Tab');
    await focused(dialog().locator('input'));
    await page.keyboard.insertText('readonly');
    await page.getByRole('option', { name: 'readonly' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await keys.press(dialog().getByRole('button', { name: 'Save' }));
    await dialog().waitFor({ state: 'detached' });
    await focused(button('Policies…'));
    await keys.choose(button('More'), 'Delete user…');
    await keys.press(dialog().getByRole('button', { name: 'Delete user' }));
    await content().getByText('No users yet').waitFor();
    await focused(content());
  });
});
