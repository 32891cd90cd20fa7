import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { s3Client } from '../../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../../support/server/start-server.ts';
import { leaveBrowser, newVisitor, openBrowser, type Visitor } from '../open-browser.ts';
import { send, startSession } from '../sign-in.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: RunningServer;
let browser: Browser;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  browser = await openBrowser();
  visitor = await newVisitor(browser);
  page = visitor.page;
  await startSession(page, server);
});

afterAll(async () => {
  await leaveBrowser(browser);
  await server?.stop();
});

afterEach(async () => {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.setViewportSize({ width: 1_280, height: 800 });
  expect(visitor.complaints).toEqual([]);
});

const open = (path: string) => page.goto(`${server.console}/${path}`);
const content = () => page.locator('#content');
const loading = () => content().getByLabel('Loading').first();

/** Calls of every page: the frame cannot be shown without them. */
const isOfFrame = (url: string) => /\/api\/(?:session|sign-in-options|transfers)$/.test(new URL(url).pathname);

/** Answers the calls of the page in another way. */
async function answer(how: (route: Route) => Promise<void>): Promise<void> {
  await page.route('**/api/**', (route) => (isOfFrame(route.request().url()) ? route.fallback() : how(route)));
}

const refusal = { code: 'AccessDenied', message: 'The policies of rita do not allow it.' };
const failure = { code: 'InternalError', message: 'The store does not answer.' };

describe('without anything to show', () => {
  it.each([
    ['buckets', 'No buckets yet'],
    ['access-keys', 'No access keys yet'],
    ['users', 'No users yet'],
    ['groups', 'No groups yet'],
    ['identity-providers', 'None yet'],
    ['requests', 'Waiting for requests'],
    ['audit', 'No audit file'],
    ['batch-jobs', 'No batch jobs'],
    ['tiers', 'No tiers'],
    ['keys', 'No key service'],
    ['no-such-page', 'There is no such page'],
  ])('the page %s says so: %s', async (path, words) => {
    await open(path);
    await content().getByText(words).first().waitFor();
    expect(await content().locator('h1').count()).toBe(1);
  });

  it('the history of the configuration says so', async () => {
    await open('configuration');
    await page.getByRole('tab', { name: 'History' }).click();
    await content().getByText('No changes yet').waitFor();
  });
});

const placed = () => content().locator('h2, .list-tools button');

/** The tops of the headings of sections and of the buttons of a list by their texts, in pixels from the top of the page. */
async function tops(): Promise<ReadonlyMap<string, number>> {
  const found = await placed().evaluateAll((all) =>
    all.map((one) => [one.textContent ?? '', one.getBoundingClientRect().top] as const),
  );
  return new Map(found);
}

describe('each page', () => {
  beforeAll(async () => {
    const s3 = s3Client(server);
    await s3.send(new CreateBucketCommand({ Bucket: 'research' }));
    await s3.send(new PutObjectCommand({ Bucket: 'research', Key: 'a.json', Body: '{}' }));
    await send(page, server, 'POST', 'groups', { name: 'researchers', policies: [] });
    await send(page, server, 'POST', 'users', { name: 'rita', policies: ['readonly'] });
  });

  /** The pages that ask for something, each with what it shows in the end. */
  const asking: readonly (readonly [string, string])[] = [
    ['buckets', 'research'],
    ['buckets/research', 'a.json'],
    ['buckets/research?object=a.json', 'Content type'],
    ['buckets/research/settings', 'Public access block'],
    ['access-keys', 'No access keys yet'],
    ['users', 'rita'],
    ['user?name=rita', 'Rights in buckets'],
    ['groups', 'researchers'],
    ['group?name=researchers', 'Members'],
    ['policies', 'readonly'],
    ['policy?name=readonly', 'What it says'],
    ['identity-providers', 'None yet'],
    ['status', 'Deployment'],
    ['traffic', 'Processors'],
    ['logs', 'Message'],
    ['audit', 'No audit file'],
    ['work', 'Apply lifecycle rules'],
    ['configuration', 'site'],
    ['keys', 'No key service'],
    ['batch-jobs', 'No batch jobs'],
    ['tiers', 'No tiers'],
    ['sessions', 'this one'],
  ];

  /**
   * The pages with something below or next to what loads, each with the last of its parts, and with the pixels that the rest may move: the
   * count of lines differs between servers, and a phone breaks some.
   */
  const steady = [
    ['status', 'Deployment', 100],
    ['traffic', 'Processors', 100],
    ['work', 'Apply lifecycle rules', 150],
    ['users', 'rita', 4],
    ['groups', 'researchers', 4],
  ] as const;

  it.each(asking)('%s loads, with its title, until it is there', async (path, words) => {
    const released = Promise.withResolvers<void>();
    await answer(async (route) => {
      await released.promise;
      await route.continue();
    });
    await open(path);
    // Until the script of the page is there, the frame says that it loads.
    await content().locator('h1').waitFor();
    await loading().waitFor();
    expect(await content().getByRole('alert').count()).toBe(0);
    released.resolve();
    await content().getByText(words).first().waitFor();
  });

  it.each([390, 1_440].flatMap((width) => steady.map(([path, ...rest]) => [path, width, ...rest] as const)))(
    '%s keeps its parts in their places at %d pixels when it has loaded',
    async (path, width, words, most) => {
      // A new server has measured nothing yet.
      await open(path);
      await content().getByText(words).first().waitFor();
      await page.setViewportSize({ width, height: 800 });
      const released = Promise.withResolvers<void>();
      await answer(async (route) => {
        await released.promise;
        await route.continue();
      });
      await page.reload();
      await placed().first().waitFor();
      await loading().waitFor();
      const before = await tops();
      released.resolve();
      await content().getByText(words).first().waitFor();
      await loading().waitFor({ state: 'detached' });
      const after = await tops();
      const moved = [...before].map(([title, top]) => [title, (after.get(title) ?? Infinity) - top] as const);
      expect(moved.filter(([, by]) => Math.abs(by) > most)).toEqual([]);
    },
  );

  it.each(asking)('%s says that it cannot be shown, with its title, and tries it again', async (path, words) => {
    await answer((route) => route.fulfill({ status: 500, json: failure }));
    await open(path);
    await content().getByRole('alert').getByText('The store does not answer.').first().waitFor();
    expect(await content().locator('h1').count()).toBe(1);
    expect(await loading().count()).toBe(0);
    await page.unroute('**/api/**');
    // Each part of the page has its own button. The log is opened again without one.
    const again = content().getByRole('button', { name: 'Try again' });
    await expect
      .poll(
        async () => {
          // The button of an attempt before may go while it is clicked.
          if ((await again.count()) > 0)
            await again
              .first()
              .click({ timeout: 1_000 })
              .catch(() => undefined);
          return content().getByText(words).count();
        },
        { timeout: 180_000 },
      )
      .toBeGreaterThan(0);
  });

  it.each(asking)('%s says that the user may not see it, and does not offer another try', async (path) => {
    await answer((route) => route.fulfill({ status: 403, json: refusal }));
    await open(path);
    await content().getByText('The policies of rita do not allow it.').first().waitFor();
    expect(await content().locator('h1').count()).toBe(1);
    expect(await content().getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  it.each([
    ['user?name=nobody', 'nobody cannot be shown'],
    ['group?name=nobody', 'nobody cannot be shown'],
    ['policy?name=nobody', 'nobody cannot be shown'],
    ['identity-provider?type=openid&name=nobody', 'nobody cannot be shown'],
    ['buckets/nobody', 'nobody cannot be shown'],
    ['buckets/nobody/settings', 'nobody cannot be shown'],
  ])('%s says that it is not there, and has a way back', async (path, words) => {
    await open(path);
    await content().getByRole('alert').getByText(words).waitFor();
    expect(await content().locator('h1').count()).toBe(1);
    expect(await content().locator('nav a').count()).toBeGreaterThan(0);
  });

  it('a bucket that is not there has no button to type a path, and its message is a sentence', async () => {
    await open('buckets/nobody');
    await content().getByRole('alert').getByText('The specified bucket does not exist.', { exact: true }).waitFor();
    expect(await content().getByRole('button').count()).toBe(0);
  });

  it('keeps what it shows while the server cannot be reached', async () => {
    await open('work');
    await content().getByText('Apply lifecycle rules').waitFor();
    await answer((route) => route.abort());
    await content().getByRole('alert').getByText('The work cannot be shown').waitFor();
    expect(await content().getByText('Apply lifecycle rules').count()).toBe(1);
  });
});
