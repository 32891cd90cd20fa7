import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Cookie, type Page } from 'playwright-core';
import type { RunnerTestCase } from 'vitest';
import type { RunningServer } from '../support/server/start-server.ts';

let shared: Promise<Browser> | undefined;

/**
 * A real Chromium: `COFFER_CHROMIUM`, or the one without a desktop where Debian puts it. The files of a worker share it, since its start
 * costs as much as several tests. It ends with the worker.
 */
export async function openBrowser(): Promise<Browser> {
  if ((await shared)?.isConnected() !== true) shared = launch();
  return shared ?? launch();
}

/** Closes what a file has left open in the browser. */
export async function leaveBrowser(browser: Browser | undefined): Promise<void> {
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['COFFER_CHROMIUM'] ?? '/usr/bin/chromium-headless-shell',
    // The container it runs in is the sandbox; Chromium's own needs rights that root in a container lacks.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--font-render-hinting=none'],
  });
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the page complained about: errors of scripts, and what the content security policy stopped. */
  readonly complaints: readonly string[];
  /** Saves what the page looks like now under the folder of this run. */
  picture(name: string): Promise<void>;
}

/** Signs in at the console with keys, by default those of root. */
export async function signIn(
  page: Page,
  server: Pick<RunningServer, 'console' | 'accessKey' | 'secretKey'>,
  accessKey = server.accessKey,
  secretKey = server.secretKey,
): Promise<void> {
  await page.goto(`${server.console}/sign-in`);
  await page.getByLabel('Access key').fill(accessKey);
  await page.getByLabel('Secret key').fill(secretKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('link', { name: 'Account' }).waitFor();
}

/** The cookies of root's session at each server. */
const sessions = new Map<string, readonly Cookie[]>();

/**
 * Opens the page of the buckets with root's session, which the tests of a file share: for those that are not about sessions. Signing in
 * costs a second document.
 */
export async function openAsRoot(
  page: Page,
  server: Pick<RunningServer, 'console' | 'accessKey' | 'secretKey'>,
): Promise<void> {
  const known = sessions.get(server.console);
  if (known === undefined) {
    await signIn(page, server);
    sessions.set(server.console, await page.context().cookies());
  } else {
    await page.context().addCookies([...known]);
    await page.goto(`${server.console}/buckets`);
  }
  await page.getByRole('button', { name: 'Create bucket' }).first().waitFor();
}

const folder = mkdtemp(join(tmpdir(), 'coffer-browser-'));

/** A person with a browser profile of their own. */
export async function newVisitor(
  browser: Browser,
  options: { readonly colorScheme?: 'light' | 'dark'; readonly locale?: string; readonly phone?: boolean } = {},
): Promise<Visitor> {
  const { phone = false } = options;
  const context = await browser.newContext({
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    hasTouch: phone,
    isMobile: phone,
    colorScheme: options.colorScheme ?? 'light',
    acceptDownloads: true,
    locale: options.locale ?? 'en-GB',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  // Generous: the machine may be busy, and whoever waits for a condition goes on as soon as it holds.
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    // A refused call shows as a failed resource: the page handles it.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) complaints.push(text);
  });
  return {
    context,
    page,
    complaints,
    async picture(name) {
      await page.screenshot({ path: join(await folder, `${name}.png`) });
    },
  };
}

/** Closes the profile and returns the complaints. After a failed test it prints what the page showed at its end. */
export async function endVisit(
  { context, page, complaints }: Visitor,
  test: Readonly<RunnerTestCase>,
): Promise<readonly string[]> {
  if (test.result?.state === 'fail' && !page.isClosed()) {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 5_000 }).catch(String);
    console.error(`${test.name}: ${page.url()} showed at the end\n${shown}`);
  }
  await context.close();
  return complaints;
}

/** What can be pressed or filled in and has no name for those who cannot see it; the name is what Chromium itself makes of it. */
export async function unnamedControls(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    return nodes
      .filter(({ ignored, role }) => !ignored && controls.has(String(role?.value)))
      .filter(({ name }) => String(name?.value ?? '').trim() === '')
      .map(({ role, nodeId }) => `${String(role?.value)} ${nodeId}`);
  } finally {
    await session.detach();
  }
}

const controls = new Set([
  'button',
  'link',
  'textbox',
  'combobox',
  'checkbox',
  'switch',
  'radio',
  'radiogroup',
  'tab',
  'menuitem',
  'dialog',
  'region',
  'progressbar',
]);
