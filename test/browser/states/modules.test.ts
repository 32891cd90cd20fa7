import type { Page, Route } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { startServer, type RunningServer } from '../../support/server/start-server.ts';
import { signIn } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: RunningServer;
let page: Page;

visitEachTest({
  server: () => startServer({ console: true }),
  ready(started) {
    server = started;
  },
  begin(one) {
    page = one.page;
  },
  visitor: { fresh: true },
  mayComplain: true,
});

const content = () => page.locator('#content');
const open = (path: string) => page.goto(`${server.console}/${path}`);
const row = (words: string) => content().getByText(words).first().waitFor();

/** Follows a link of the frame, so that the document stays. */
const go = (name: string) => page.getByRole('link', { name, exact: true }).click();

/** Answers the requests for the files of the console whose names begin in this way. */
async function answer(name: string, how: (route: Route) => Promise<void>): Promise<void> {
  await page.route(`**/assets/${name}-*.js`, how);
}

/** The ways in which the file of a page may fail. */
const failures: readonly (readonly [string, (route: Route) => Promise<void>])[] = [
  ['whose connection is cut', (route) => route.abort('connectionreset')],
  ['that is answered with 503', (route) => route.fulfill({ status: 503, body: 'busy' })],
  ['that another version of the server does not have', (route) => route.fulfill({ status: 404, body: 'none' })],
  ['that comes in part', (route) => route.fulfill({ contentType: 'text/javascript', body: 'export const a = (' })],
];

/** Shows the page of the users, by the button where the browser keeps the failure for as long as the document lives. */
async function untilUsers(): Promise<void> {
  const again = content().getByRole('button', { name: 'Try again' });
  await content().getByText('No users yet').or(again).first().waitFor();
  if ((await again.count()) > 0) await again.click();
  await row('No users yet');
}

describe.each(failures)('a file of the console %s', (_, fail) => {
  it('shows an error in the place of its page, and the button loads it', async () => {
    await signIn(page, server);
    await answer('users-page', fail);
    await go('Users');
    await content().getByRole('alert').getByText('A file of the console cannot be loaded.').waitFor();
    expect(await content().locator('h1').count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Account' }).isVisible()).toBe(true);
    // The page is asked for again when it is opened again.
    await go('Buckets');
    await row('No buckets yet');
    await page.unrouteAll();
    await go('Users');
    await untilUsers();
  });

  it('that failed while the keys were typed comes after the sign-in', async () => {
    await open('sign-in');
    const asked = Promise.withResolvers<void>();
    await answer('buckets-page', async (route) => {
      await fail(route);
      asked.resolve();
    });
    await page.getByLabel('Access key').fill(server.accessKey);
    await asked.promise;
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByLabel('Secret key').fill(server.secretKey);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: 'Account' }).waitFor();
    const again = content().getByRole('button', { name: 'Try again' });
    await content().getByText('No buckets yet').or(again).first().waitFor();
    if ((await again.count()) > 0) await again.click();
    await row('No buckets yet');
  });
});

const cut = (route: Route) => route.abort('connectionreset');

describe('without a file of the console', () => {
  it('the page stays as it is when the file is a part of the frame', async () => {
    await answer('work-tray', cut);
    await signIn(page, server);
    await row('No buckets yet');
    await page.getByRole('alert').getByText('A part of the page cannot be shown').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await row('No buckets yet');
  });

  it.each(['first', 'index'])('the document says that it has not loaded: %s', async (name) => {
    await answer(name, cut);
    await open('sign-in');
    await page.getByText('The console has not loaded.').waitFor();
    await page.unrouteAll();
    await page.getByRole('link', { name: 'Load this page again.' }).click();
    await page.getByLabel('Access key').waitFor();
  });
});

describe('a module that the browser does not ask for twice', () => {
  it('comes with the document that the button loads again', async () => {
    await signIn(page, server);
    await answer('users-page', (route) => route.abort());
    await go('Users');
    const button = content().getByRole('button', { name: 'Try again' });
    await button.waitFor();
    const loaded = page.waitForEvent('load');
    await button.click();
    await loaded;
    await button.waitFor();
    await page.unrouteAll();
    await button.click();
    await row('No users yet');
  });

  it('does not cost the page while the server cannot be reached', async () => {
    await signIn(page, server);
    await page.route('**/*', (route) => route.abort());
    await go('Users');
    const button = content().getByRole('button', { name: 'Try again' });
    await button.waitFor();
    const asked = page.waitForEvent('requestfailed', (request) => request.method() === 'HEAD');
    await button.click();
    await asked;
    await button.waitFor();
    await page.unrouteAll();
    await button.click();
    await row('No users yet');
  });
});
