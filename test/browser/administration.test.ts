import { readFile } from 'node:fs/promises';
import { GetObjectCommand, ListBucketsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import { followPath } from './follow-path.ts';
import { unnamedControls, type Visitor } from './open-browser.ts';
import { send, signIn, startSession } from './sign-in.ts';
import { visitEachTest } from './visit-each-test.ts';

// Whole ways through several pages, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let provider: OpenIdProviderDouble;
let server: RunningServer;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  provider = await OpenIdProviderDouble.start({
    users: [{ username: 'nora', claims: { policy: 'not-there-yet' } }],
  });
});

afterAll(() => provider?.close());

visitEachTest({
  server: () =>
    startServer({
      env: {
        SVC_IDENTITY_OPENID_CONFIG_URL_FIXED: provider.configUrl,
        SVC_IDENTITY_OPENID_CLIENT_ID_FIXED: 'fixed',
        SVC_IDENTITY_OPENID_DISPLAY_NAME_FIXED: 'Sign in with Fixed',
      },
    }),
  ready(started) {
    server = started;
    provider.realm.clients.get('coffer')?.redirectUris.push(`${server.console}/oauth_callback`);
  },
  begin(one) {
    visitor = one;
    page = one.page;
  },
});

async function signOut(): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Access key').waitFor();
}

const patient = { timeout: 180_000 };
const open = (name: string) => page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name }).click();
const dialog = () => page.getByRole('dialog');
const railLinks = () => page.getByRole('navigation', { name: 'Console' }).locator('.rail-link').allInnerTexts();
const answerTo = (accessKeyId: string, secretAccessKey: string) =>
  new S3Client({
    endpoint: server.s3,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });

/** Calls the console in the session of the page. */
const call = (method: string, path: string, body: object) => send(page, server, method, path, body);

async function pick(label: string, option: string): Promise<void> {
  await dialog().getByRole('combobox', { name: label }).fill(option);
  await page.getByRole('option', { name: option, exact: true }).click();
}

const readPhotos = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    {
      Sid: 'Look',
      Effect: 'Allow',
      Action: ['s3:ListBucket', 's3:GetBucketLocation'],
      Resource: 'arn:aws:s3:::photos',
    },
    { Sid: 'Read', Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' },
  ],
});

const putChanging = (action: string) =>
  call('PUT', 'policy?name=changing', {
    document: JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: action, Resource: 'arn:aws:s3:::*' }],
    }),
  });

describe('administration in a browser', () => {
  it('creates a policy and a user with it; the user sees what the policy allows, and nothing else', async () => {
    await signIn(page, server);
    await call('POST', 'buckets', { name: 'photos' });
    await call('POST', 'buckets', { name: 'secrets' });

    await open('Policies');
    await page.getByRole('link', { name: 'Create policy' }).click();
    await page.getByLabel('Name', { exact: true }).fill('photos-read');
    const editor = page.getByRole('textbox', { name: 'Document' });
    await editor.fill(readPhotos.replace('"Allow"', '"Alow"'));
    await page.getByText('Statement[0].Effect "Alow" must be').waitFor();
    await visitor.picture('policy-wrong');
    await editor.fill(readPhotos);
    await page.getByText('every object in photos').waitFor();
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByRole('heading', { name: 'photos-read' }).waitFor();
    await visitor.picture('policy');

    await open('Users');
    await page.getByRole('button', { name: 'Create user' }).first().click();
    await dialog().getByLabel('Name', { exact: true }).fill('pia');
    await pick('Policies', 'photos-read');
    await page.keyboard.press('Escape');
    await dialog().getByRole('button', { name: 'Create user' }).click();
    await dialog().getByText('it is not shown again').waitFor();
    const secretKey = (await dialog().locator('dd .mono').nth(1).innerText()).trim();
    const saving = page.waitForEvent('download');
    await dialog().getByRole('button', { name: 'Download' }).click();
    const saved: unknown = JSON.parse(await readFile(await (await saving).path(), 'utf8'));
    expect(saved).toMatchObject({ accessKey: 'pia', secretKey });
    await visitor.picture('secret-once');
    await dialog().getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('row').filter({ hasText: 'pia' }).getByText('photos-read').waitFor();

    await signOut();
    await signIn(page, server, 'pia', secretKey);
    await page.getByRole('link', { name: 'photos' }).waitFor();
    expect(await page.getByRole('link', { name: 'secrets' }).count()).toBe(0);
    expect(await railLinks()).toEqual(['Buckets', 'Access keys', 'Account']);
    await page.goto(`${server.console}/users`);
    await page.getByText('Your policy (photos-read) does not allow admin:ListUsers').waitFor();
    await visitor.picture('not-allowed');
  });

  it('shows earlier versions of a policy, edits from one, and does not overwrite a later version', async () => {
    await startSession(page, server);
    await putChanging('s3:GetObject');
    await putChanging('s3:PutObject');
    await page.goto(`${server.console}/policy?name=changing`);
    await page.getByRole('tab', { name: 'Earlier (1)' }).click();
    await page.locator('.mantine-Accordion-control').click();
    await page.getByRole('button', { name: 'Edit from this version' }).click();
    const editor = page.getByRole('textbox', { name: 'Document' });
    await editor.waitFor();
    expect(await editor.inputValue()).toContain('s3:GetObject');
    await putChanging('s3:DeleteObject');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('is there already, as it was saved at').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('s3:DeleteObject').first().waitFor();
  });

  it('explains decisions', async () => {
    await signIn(page, server);
    await call('POST', 'groups', { name: 'readers', policies: ['readonly'] });
    await call('POST', 'users', { name: 'rolf', secretKey: 'rolf-secret', groups: ['readers'] });
    await open('Explain');
    await page.getByLabel('User or access key').fill('rolf');
    await page.getByLabel('Action').fill('s3:PutObject');
    await page.getByLabel('Resource').fill('photos/1.jpg');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('rolf: denied').waitFor();
    const policy = page.getByRole('region', { name: 'Policy readonly' });
    await policy.getByText('by the group readers').waitFor();
    await policy.getByText('not s3:PutObject').waitFor();
    await visitor.picture('explain-denied');
    await page.getByLabel('Action').fill('s3:GetObject');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('rolf: allowed').waitFor();
    await page.getByText('readonly · #1').waitFor();
    await visitor.picture('explain-allowed');
  });

  it('explains the rights of claims, and why STS would issue no credentials', async () => {
    await signIn(page, server);
    await open('Explain');
    await page.getByText('A user with these claims').click();
    const claims = page.getByRole('textbox', { name: 'Claims' });
    await claims.fill('{"sub": "1", "preferred_username": "nora", "policy": ["readonly", "gone"]}');
    await page.getByLabel('Resource').fill('photos/1.jpg');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('nora (FIXED): allowed').waitFor();
    await page.getByText('gone: named for them, and nowhere defined').waitFor();
    await claims.fill('{"sub": "1", "email": "nora@example.org"}');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('The policy claim "policy" is missing from the token').waitFor();
    await visitor.picture('explain-claims');
  });

  it('creates an access key with a policy and an expiration, and deletes it', async () => {
    await signIn(page, server);
    await call('POST', 'buckets', { name: 'for-programs' });
    await call('POST', 'users', { name: 'paul', secretKey: 'paul-secret', policies: ['readwrite'] });
    await signOut();
    await signIn(page, server, 'paul', 'paul-secret');
    await open('Access keys');
    await page.getByRole('button', { name: 'Create access key' }).first().click();
    await dialog().getByLabel('Name', { exact: true }).fill('reader');
    await dialog().getByLabel('Expires').fill('2020-01-01T00:00');
    await dialog().getByRole('switch', { name: 'Narrow it by a policy of its own' }).check({ force: true });
    await dialog().getByRole('textbox', { name: 'Policy' }).fill(readPhotos.replaceAll('photos', 'for-programs'));
    await dialog().getByText('every object in for-programs').waitFor();
    await dialog().getByRole('button', { name: 'Create access key' }).click();
    await dialog().getByText('is not in the future').waitFor();
    await visitor.picture('access-key-form');
    await dialog().getByLabel('Expires').fill('2999-01-01T00:00');
    await dialog().getByRole('button', { name: 'Create access key' }).click();
    await dialog().getByText('it is not shown again').waitFor();
    const [accessKey = '', secretKey = ''] = await dialog().locator('dd .mono').allInnerTexts();
    await dialog().getByRole('button', { name: 'I have kept it' }).click();

    const whole = answerTo('paul', 'paul-secret');
    await whole.send(new PutObjectCommand({ Bucket: 'for-programs', Key: 'a.txt', Body: 'hello' }));
    const narrowed = answerTo(accessKey.trim(), secretKey.trim());
    const read = await narrowed.send(new GetObjectCommand({ Bucket: 'for-programs', Key: 'a.txt' }));
    expect(await read.Body?.transformToString()).toBe('hello');
    const write = narrowed.send(new PutObjectCommand({ Bucket: 'for-programs', Key: 'b.txt', Body: 'no' }));
    await expect(write).rejects.toMatchObject({ name: 'AccessDenied' });

    await page.getByText('narrowed').waitFor();
    await visitor.picture('access-keys');
    await page.getByRole('button', { name: `Actions for ${accessKey.trim()}` }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await dialog().getByRole('button', { name: 'Delete access key' }).click();
    await page.getByText('No access keys yet').waitFor();
    await expect(narrowed.send(new ListBucketsCommand({}))).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
  });

  it('adds an identity provider after a test, which accepts sign-ins at once; that of the environment is read only', async () => {
    await signIn(page, server);
    await open('Identity providers');
    await page.getByText('environment, read only').waitFor();
    await page.getByRole('link', { name: 'Add OpenID provider' }).click();
    await page.getByLabel('Name', { exact: true }).fill('MINE');
    await page.getByRole('combobox', { name: 'Provider' }).click();
    await page.getByRole('option', { name: 'Keycloak' }).click();
    await page.getByRole('textbox', { name: 'url', exact: true }).fill('https://idp.example.com');
    await page.getByRole('textbox', { name: 'realm', exact: true }).fill('company');
    expect(await page.getByRole('textbox', { name: 'config_url' }).inputValue()).toBe(
      'https://idp.example.com/realms/company/.well-known/openid-configuration',
    );
    expect(await page.getByRole('textbox', { name: 'claim_name' }).inputValue()).toBe('policy');
    // What is typed stays.
    await page.getByRole('textbox', { name: 'claim_name' }).fill('groups');
    await page.getByRole('textbox', { name: 'realm', exact: true }).fill('others');
    expect(await page.getByRole('textbox', { name: 'config_url' }).inputValue()).toContain('/realms/others/');
    expect(await page.getByRole('textbox', { name: 'claim_name' }).inputValue()).toBe('groups');
    await page.getByRole('textbox', { name: 'claim_name' }).fill('');
    await page.getByRole('combobox', { name: 'Provider' }).click();
    await page.getByRole('option', { name: 'Google' }).click();
    expect(await page.getByRole('textbox', { name: 'claim_name' }).inputValue()).toBe('');
    await page.getByRole('textbox', { name: 'scopes' }).fill('');
    await page.getByRole('textbox', { name: 'config_url' }).fill(provider.configUrl);
    await page.getByRole('textbox', { name: 'client_id', exact: true }).fill('coffer');
    await page.getByLabel('client_secret').fill('mistyped');
    await page.getByRole('textbox', { name: 'display_name' }).fill('Sign in with Mine');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('check client_id and client_secret').waitFor();
    await visitor.picture('provider-test');
    await page.getByLabel('client_secret').fill('coffer-secret');
    await page.getByRole('button', { name: 'Add provider' }).click();
    await page.getByText('*REDACTED*').waitFor();
    await visitor.picture('provider');

    await page.goto(`${server.console}/identity-provider?type=openid&name=FIXED`);
    await page.getByText('Environment variables of the server set it').waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);

    await signOut();
    await page.getByRole('link', { name: 'Sign in with Mine' }).click();
    await page.locator('#username').fill('nora');
    await page.locator('#password').fill('nora-password');
    await page.locator('#login').click();
    await page.getByText('None of the given policies (`not-there-yet`) are defined').waitFor();
    await visitor.picture('policy-not-defined');
  });

  it('shows the status of the service', async () => {
    await signIn(page, server);
    await open('Status');
    await page.getByText('free of').waitFor();
    await page.getByRole('region', { name: 'Key service' }).getByText('None is configured').waitFor();
    await visitor.picture('status');
  });

  it('can be used by keyboard alone, and restores the focus', async () => {
    await signIn(page, server);
    await open('Groups');
    const create = page.getByRole('button', { name: 'Create group' });
    await create.focus();
    await page.keyboard.press('Enter');
    await dialog().getByLabel('Name', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.tagName'), patient).toBe('INPUT');
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement?.textContent'), patient).toBe('Create group');
    await page.keyboard.press('Enter');
    await dialog().getByLabel('Name', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.tagName'), patient).toBe('INPUT');
    await page.keyboard.type('by-keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'by-keyboard' }).waitFor();
  });

  it('has a name for every control and one heading of the first level on each page', async () => {
    await startSession(page, server);
    await call('POST', 'users', { name: 'named', secretKey: 'named-secret', policies: ['readonly'] });
    await call('POST', 'buckets', { name: 'named' });
    const paths = [
      '/buckets',
      '/buckets/named?prefix=folder%2F',
      '/nothing-here',
      '/access-keys',
      '/users',
      '/user?name=named',
      '/groups',
      '/policies',
      '/policies/new',
      '/policy?name=readonly',
      '/explain',
      '/identity-providers',
      '/identity-providers/new?type=openid',
      '/identity-provider?type=openid&name=FIXED',
      '/status',
      '/traffic',
      '/requests',
      '/logs',
      '/audit',
      '/work',
      '/configuration',
      '/keys',
      '/sessions',
      '/account',
    ];
    for (const path of paths) {
      await followPath(page, server.console, path);
      await page.locator('h1').waitFor();
      // Several parts of a page may still load.
      await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count(), { timeout: 180_000 }).toBe(0);
      expect({ path, unnamed: await unnamedControls(page), headings: await page.locator('h1').count() }).toEqual({
        path,
        unnamed: [],
        headings: 1,
      });
    }
  });
});
