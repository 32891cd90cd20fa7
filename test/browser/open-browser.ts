import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { RunnerTestCase } from 'vitest';

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
  const free = new Set([...left.values()].flat());
  await Promise.all((browser?.contexts() ?? []).filter((one) => !free.has(one)).map((one) => one.close()));
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['COFFER_CHROMIUM'] ?? '/usr/bin/chromium-headless-shell',
    // The container it runs in is the sandbox; Chromium's own needs rights that root in a container lacks. The pages of a profile share a
    // process, which has compiled the console.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--font-render-hinting=none', '--renderer-process-limit=1'],
  });
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the page complained about: errors of scripts, and what the content security policy stopped. */
  readonly complaints: readonly string[];
  /** Resolves when the server has answered every call of the page, and the page shows what came. */
  untilAnswered(): Promise<void>;
  /** Saves what the page looks like now under the folder of this run. */
  picture(name: string): Promise<void>;
}

export interface VisitorOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly locale?: string;
  readonly phone?: boolean;
  /** The time zone of the person, for example `Asia/Kolkata`. */
  readonly zone?: string;
  /** No other visitor has used the profile: it has no file of the console. */
  readonly fresh?: boolean;
}

const folder = mkdtemp(join(tmpdir(), 'coffer-browser-'));

/**
 * The profiles that visitors have left, by their options. They have no cookies and nothing stored, but their process has compiled the
 * console: a page needs half of the processor time to load it.
 */
const left = new Map<string, BrowserContext[]>();

/** A person with a browser profile of their own. */
export async function newVisitor(browser: Browser, options: VisitorOptions = {}): Promise<Visitor> {
  const context = profileLeft(browser, options) ?? (await newProfile(browser, options));
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
  const calls = new Calls(page);
  return {
    context,
    page,
    complaints,
    untilAnswered: () => calls.untilAnswered(),
    async picture(name) {
      await page.screenshot({ path: join(await folder, `${name}.png`) });
    },
  };
}

function profileLeft(browser: Browser, options: VisitorOptions): BrowserContext | undefined {
  if (options.fresh === true) return undefined;
  const same = left.get(profileKey(options)) ?? [];
  const at = same.findIndex((context) => context.browser() === browser);
  return at === -1 ? undefined : same.splice(at, 1)[0];
}

const profileKey = ({ colorScheme, locale, phone, zone }: VisitorOptions) =>
  JSON.stringify([colorScheme, locale, phone, zone]);

interface Profile {
  readonly key: string;
  /** An empty page. It keeps the process when the others are closed. */
  readonly keeper: Page;
  /** The origins of its pages, which can have stored something. */
  readonly origins: Set<string>;
}

const profiles = new WeakMap<BrowserContext, Profile>();

async function newProfile(browser: Browser, options: VisitorOptions): Promise<BrowserContext> {
  const { phone = false } = options;
  const context = await browser.newContext({
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    hasTouch: phone,
    isMobile: phone,
    colorScheme: options.colorScheme ?? 'light',
    acceptDownloads: true,
    locale: options.locale ?? 'en-GB',
    ...(options.zone !== undefined && { timezoneId: options.zone }),
    reducedMotion: 'reduce',
  });
  const origins = new Set<string>();
  context.on('request', (request) => {
    if (request.isNavigationRequest()) origins.add(new URL(request.url()).origin);
  });
  profiles.set(context, { key: profileKey(options), keeper: await context.newPage(), origins });
  return context;
}

/** Counts the calls of a page that have no answer yet. */
class Calls {
  readonly #page: Page;
  #sent = 0;
  #pending = 0;
  #waiting: (() => void)[] = [];

  constructor(page: Page) {
    this.#page = page;
    page.on('request', () => {
      this.#sent += 1;
      this.#pending += 1;
    });
    const onEnd = () => {
      this.#pending -= 1;
      if (this.#pending === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    };
    page.on('requestfinished', onEnd);
    page.on('requestfailed', onEnd);
  }

  async untilAnswered(): Promise<void> {
    for (let sent = -1; sent !== this.#sent || this.#pending > 0;) {
      sent = this.#sent;
      if (this.#pending > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await this.#page.evaluate(painted);
    }
  }
}

/** Resolves in a page when its scripts have handled what came, and the window is painted. */
export const painted =
  'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))';

/**
 * Ends a visit, and returns the complaints. Later visitors use its profile. After a failed test it prints what the page showed at its end.
 */
export async function endVisit(
  { context, page, complaints }: Visitor,
  test?: Readonly<RunnerTestCase>,
): Promise<readonly string[]> {
  const failed = test?.result?.state === 'fail';
  if (failed && !page.isClosed()) {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 5_000 }).catch(String);
    console.error(`${test.name}: ${page.url()} showed at the end\n${shown}`);
  }
  if (failed) await context.close();
  else await leaveProfile(context);
  return complaints;
}

/** Closes the pages of a profile, and removes what they stored. */
async function leaveProfile(context: BrowserContext): Promise<void> {
  const profile = profiles.get(context);
  if (profile === undefined) return context.close();
  const pages = context.pages().filter((one) => one !== profile.keeper);
  await Promise.all(pages.map((one) => one.close()));
  const session = await context.newCDPSession(profile.keeper);
  const storageTypes = 'local_storage,indexeddb,cache_storage,service_workers';
  for (const origin of profile.origins) await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
  await session.detach();
  profile.origins.clear();
  await context.clearCookies();
  await context.clearPermissions();
  left.set(profile.key, [...(left.get(profile.key) ?? []), context]);
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
