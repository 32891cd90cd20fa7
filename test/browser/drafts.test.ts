import { CreateBucketCommand, HeadBucketCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import type { Visitor } from './open-browser.ts';
import { signIn, startSession } from './sign-in.ts';
import { visitEachTest } from './visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let provider: OpenIdProviderDouble;
let server: RunningServer;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  provider = await OpenIdProviderDouble.start({
    users: ['alice', 'carl'].map((username) => ({ username, claims: { policy: 'consoleAdmin' } })),
  });
});

afterAll(() => provider?.close());

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
  async ready(started) {
    server = started;
    provider.realm.clients.get('coffer')?.redirectUris.push(`${server.console}/oauth_callback`);
    const s3 = s3Client(server);
    await s3.send(new CreateBucketCommand({ Bucket: 'replicated' }));
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await s3.send(new PutBucketVersioningCommand({ Bucket: 'replicated', VersioningConfiguration }));
  },
  begin(one) {
    visitor = one;
    page = one.page;
  },
});

/** Everything that the tab has stored. */
const stored = () => page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');

async function signInBy(username: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Demo' }).click();
  await page.locator('#username').fill(username);
  await page.locator('#password').fill(`${username}-password`);
  await page.locator('#login').click();
  await page.getByRole('link', { name: 'Account' }).waitFor();
}

describe('what was typed', () => {
  it('is there again after a reload and in another language, until it is saved', async () => {
    await signIn(page, server);
    await page.getByRole('button', { name: 'Create bucket' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('drafted');
    await page.getByLabel('Keep versions').check();
    await page.getByRole('button', { name: 'Add a tag' }).click();
    await page.getByLabel('Name 1').fill('team');
    await page.reload();
    await page.getByLabel('Name 1').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('drafted');
    expect(await page.getByLabel('Keep versions').isChecked()).toBe(true);
    expect(await page.getByLabel('Name 1').inputValue()).toBe('team');
    // The dialog covers the list of languages.
    await page.evaluate(`localStorage.setItem('coffer-language', 'de')`);
    await page.reload();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Bucket anlegen' }).click();
    await page.waitForURL('**/buckets/drafted');
    await s3Client(server).send(new HeadBucketCommand({ Bucket: 'drafted' }));
    expect(await stored()).not.toContain('coffer-draft');
  });

  it('stays in an editor when the language is chosen', async () => {
    await startSession(page, server);
    await page.goto(`${server.console}/policies/new`);
    await page.getByLabel('Name', { exact: true }).fill('half-written');
    await page.getByLabel('Language').selectOption('Deutsch');
    await page.getByLabel('Sprache').waitFor();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('half-written');
    await page.getByLabel('Sprache').selectOption('English');
    await page.getByRole('button', { name: 'Save policy' }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('half-written');
  });

  it('is gone after Cancel', async () => {
    await signIn(page, server);
    await page.getByRole('link', { name: 'Groups' }).click();
    await page.getByRole('button', { name: 'Create group' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('cancelled');
    await expect.poll(stored).toContain('cancelled');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stored()).not.toContain('coffer-draft');
  });

  it('survives a sign-in by redirect of the same user, and no other', async () => {
    await page.goto(`${server.console}/groups`);
    await signInBy('alice');
    const open = () => page.getByRole('button', { name: 'Create group' }).first();
    await open().click();
    await page.getByLabel('Name', { exact: true }).fill('of-alice');
    // The session ends, and the page is loaded again.
    await visitor.context.clearCookies({ domain: new URL(server.console).hostname });
    await page.reload();
    await signInBy('alice');
    await page.waitForURL('**/groups');
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('of-alice');
    await visitor.context.clearCookies();
    await page.reload();
    await signInBy('carl');
    await page.waitForURL('**/groups');
    await open().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await stored()).not.toContain('of-alice');
  });

  it('is removed by signing out', async () => {
    await startSession(page, server);
    await page.goto(`${server.console}/policies/new`);
    await page.getByLabel('Name', { exact: true }).fill('of-root');
    await expect.poll(stored).toContain('of-root');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Access key').waitFor();
    expect(await stored()).not.toContain('coffer-draft');
  });
});

describe('a secret', () => {
  const secret = 'never-to-be-stored';

  /** Fills the fields of passwords that are shown, and says how many there are. */
  async function fillSecrets(): Promise<number> {
    const fields = page.locator('input[type=password]:visible');
    const count = await fields.count();
    for (let at = 0; at < count; at += 1) await fields.nth(at).fill(secret);
    return count;
  }

  /** The forms, each with a field that is no secret. */
  const forms: readonly (readonly [name: string, path: string, open: () => Promise<void>, field: string])[] = [
    [
      'of a user',
      'users',
      async () => {
        await page.getByRole('button', { name: 'Create user' }).first().click();
        await page.getByRole('switch', { name: 'Choose the secret key myself' }).check();
      },
      'Name',
    ],
    ['of a provider', 'identity-providers/new?type=openid', async () => {}, 'client_id'],
    ['of a tier', 'tiers', () => page.getByRole('button', { name: 'Add tier' }).first().click(), 'Name'],
    [
      'of a target of replication',
      'buckets/replicated/settings',
      () => page.getByRole('button', { name: 'Add a target' }).click(),
      'Address of the other server',
    ],
  ];

  it.each(forms)('%s is not stored in the browser', async (_, path, open, field) => {
    await startSession(page, server);
    await page.goto(`${server.console}/${path}`);
    await open();
    await page.getByLabel(field, { exact: true }).waitFor();
    expect(await fillSecrets()).toBeGreaterThan(0);
    await page.getByLabel(field, { exact: true }).fill('the-rest');
    await expect.poll(stored).toContain('the-rest');
    expect(await stored()).not.toContain(secret);
  });

  it('of a definition of a batch job is left out', async () => {
    await startSession(page, server);
    await page.goto(`${server.console}/batch-jobs`);
    await page.getByRole('button', { name: 'Start job' }).first().click();
    const definition = page.getByRole('dialog').getByRole('textbox');
    await definition.fill(`replicate:\n  bucket: draft\n  secretKey: ${secret}\n`);
    await expect.poll(stored).toContain('bucket: draft');
    expect(await stored()).not.toContain(secret);
  });
});
