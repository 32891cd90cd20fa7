import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { first as german } from '../../console/src/texts/de/first.ts';
import { pages as germanPages } from '../../console/src/texts/de/pages.ts';
import { first as english } from '../../console/src/texts/en/first.ts';
import { pages as englishPages } from '../../console/src/texts/en/pages.ts';
import { first as chinese } from '../../console/src/texts/zh/first.ts';
import { pages as chinesePages } from '../../console/src/texts/zh/pages.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { axeFindings } from './axe.ts';
import { followPath } from './follow-path.ts';
import { endVisit, leaveBrowser, newVisitor, openBrowser, type Visitor } from './open-browser.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: RunningServer;
let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  server = await startServer({});
  await untilReady(server);
  const s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: 'reports', ObjectLockEnabledForBucket: true }));
  await s3.send(
    new PutObjectCommand({ Bucket: 'reports', Key: 'a.json', Body: '{"a":1}', ContentType: 'application/json' }),
  );
  browser = await openBrowser();
});

afterAll(async () => {
  await leaveBrowser(browser);
  await server?.stop();
});

/** The pages. */
const paths = [
  'buckets',
  'buckets/reports',
  'buckets/reports?versions=1',
  'buckets/reports?object=a.json',
  'buckets/reports/settings',
  'access-keys',
  'account',
  'users',
  'groups',
  'policies',
  'policies/new',
  'policy?name=readonly',
  'explain',
  'identity-providers',
  'sessions',
  'status',
  'traffic',
  'requests',
  'logs',
  'audit',
  'work',
  'batch-jobs',
  'tiers',
  'keys',
  'configuration',
];

type Catalogue = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The texts of a catalogue without values. */
function fixed(...catalogues: readonly Catalogue[]): ReadonlySet<string> {
  const texts = catalogues.flatMap((catalogue) => Object.values(catalogue).flatMap((part) => Object.values(part)));
  return new Set(texts.filter((text): text is string => typeof text === 'string' && !text.includes('{')));
}

const inEnglish = fixed(english, englishPages);

/** What the page shows and says: its texts, labels, placeholders and titles. */
const shown = `[
  ...new Set([
    ...[...document.querySelectorAll('body *')].flatMap((element) =>
      element.closest('script, style, [lang=en], .document') ? [] :
      [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim())),
    ...[...document.querySelectorAll('[aria-label], [placeholder], [title]')].flatMap((element) =>
      ['aria-label', 'placeholder', 'title'].map((name) => element.getAttribute(name) ?? '')),
  ]),
]`;

const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

describe.each([
  ['de', 'de-DE', german, fixed(german, germanPages)],
  ['zh', 'zh-CN', chinese, fixed(chinese, chinesePages)],
] as const)('the console in the language %s', (language, locale, texts, translated) => {
  beforeAll(async () => {
    visitor = await newVisitor(browser, { locale });
    const { page } = visitor;
    await page.goto(`${server.console}/sign-in`);
    await page.getByLabel(texts.labels.accessKey).fill(server.accessKey);
    await page.getByLabel(texts.labels.secretKey, { exact: true }).fill(server.secretKey);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: texts.signIn.signIn, exact: true }).click();
    await page.getByRole('link', { name: texts.shell.account }).waitFor();
    await page.locator('#content h1').waitFor();
  });

  afterAll(async () => {
    expect(await endVisit(visitor)).toEqual([]);
  });

  it.each(paths)('has the page %s, accessible, and no English text', async (path) => {
    const { page } = visitor;
    await followPath(page, server.console, path);
    await page.locator('h1').first().waitFor();
    await expect.poll(() => page.getByLabel(texts.components.loading).count(), { timeout: 180_000 }).toBe(0);
    const left = (await page.evaluate<readonly string[]>(shown)).filter(
      (text) => inEnglish.has(text) && !translated.has(text),
    );
    expect.soft(left, 'English').toEqual([]);
    expect.soft(await axeFindings(page, 'texts'), 'axe').toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    // The page follows the width in steps.
    await expect.poll(() => page.evaluate(tooWide), { message: 'wider than the window', timeout: 180_000 }).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect.soft(await page.evaluate('document.documentElement.lang')).toBe(language);
  });
});

it('keeps the language that the user chooses in the menu', async ({ task }) => {
  visitor = await newVisitor(browser, { locale: 'fr-FR' });
  const { page } = visitor;
  await page.goto(`${server.console}/sign-in`);
  await page.getByLabel('Language').selectOption('Deutsch');
  await page.getByLabel('Sprache').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Anmelden', exact: true }).waitFor();
  expect(await page.title()).toBe('Anmelden · Coffer');
  await page.getByLabel('Sprache').selectOption('English');
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  expect(await endVisit(visitor, task)).toEqual([]);
});
