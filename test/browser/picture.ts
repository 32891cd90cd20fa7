/**
 * Takes the pictures of the README: `node bin/run.js test/browser/picture.ts` writes docs/images/console*.png. With a folder, every page
 * in both colour schemes and three widths is written into it instead. Words after the folder take only these: names of pages, `PAGE.loading`,
 * `PAGE.failed` and `PAGE.refused`, `.loading` for that state of every page, `light` or `dark`, a width.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  DeleteObjectCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { Page, Route } from 'playwright-core';
import { logIn, TestBrowser } from '../support/console/test-console.ts';
import { OpenIdProviderDouble } from '../support/openid/openid-provider.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { newVisitor, openBrowser } from './open-browser.ts';

const imageAt = (name: string) => fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url));

const provider = await OpenIdProviderDouble.start({
  users: [
    { username: 'alice', claims: { policy: ['readwrite', 'diagnostics'], preferred_username: 'Alice Ferrer' } },
    { username: 'bob', claims: { policy: ['readonly'], preferred_username: 'Bob Lindqvist' } },
  ],
});
const files = await mkdtemp(join(tmpdir(), 'coffer-pictures-'));
const server = await startServer({
  console: true,
  env: {
    SVC_AUDIT_FILE: join(files, 'audit.log'),
    SVC_KMS_SECRET_KEY: `default-key:${Buffer.alloc(32, 7).toString('base64')}`,
    SVC_SERVER_URL: 'https://s3.example.com',
    ...openIdSettings('PRIMARY_IAM', 'Sign in with Keycloak', provider.configUrl),
    ...openIdSettings(
      'PARTNERS',
      'Partner login',
      `${provider.issuer}-partners/.well-known/openid-configuration`,
      'coffer-partners',
    ),
  },
});
await untilReady(server);
provider.realm.clients.get('coffer')?.redirectUris.push(`${server.console}/oauth_callback`);

/** The pages of root. */
const pages: readonly (readonly [name: string, path: string])[] = [
  ['root-buckets', '/buckets'],
  ['versions', '/buckets/field-recordings?prefix=takes/&versions=1'],
  ['rewind', `/buckets/field-recordings?prefix=takes/&at=${new Date().toISOString()}`],
  ['object', '/buckets/field-recordings?prefix=takes/&object=takes/dawn-chorus.txt'],
  ['deleted-object', '/buckets/field-recordings?prefix=takes/&object=takes/rain.txt'],
  ['no-bucket', '/buckets/no-such-bucket'],
  ['settings', '/buckets/field-recordings/settings'],
  ['root-account', '/account'],
  ['access-keys', '/access-keys'],
  ['users', '/users'],
  ['user', '/user?name=ingrid'],
  ['no-user', '/user?name=nobody'],
  ['groups', '/groups'],
  ['group', '/group?name=researchers'],
  ['policies', '/policies'],
  ['policy', '/policy?name=research-own'],
  ['new-policy', '/policies/new'],
  ['sessions', '/sessions'],
  ['identity-providers', '/identity-providers'],
  ['identity-provider', '/identity-provider?type=openid&name=PRIMARY_IAM'],
  ['new-identity-provider', '/identity-providers/new?type=openid'],
  ['status', '/status'],
  ['traffic', '/traffic'],
  ['requests', '/requests'],
  ['logs', '/logs'],
  ['audit', '/audit'],
  ['work', '/work'],
  ['batch-jobs', '/batch-jobs'],
  ['tiers', '/tiers'],
  ['keys', '/keys'],
  ['configuration', '/configuration'],
  ['no-page', '/no-such-page'],
];

/** The pages that show what the session has, or what comes by itself: they have no other states. */
const withoutCalls = new Set(['root-account', 'new-policy', 'new-identity-provider', 'requests', 'no-page']);

/** Pixels. Chromium without a graphics card takes minutes for a page of thousands of them. */
const maxHeight = 2_600;

const browser = await openBrowser();
const scenes = allScenes();
await fill();
const [folder, ...words] = process.argv.slice(2);
const schemes = chosen(['light', 'dark']);
const widths = chosen(['768', '1440', '390']);
const only = words.filter((word) => !['light', 'dark', '768', '1440', '390'].includes(word));
if (folder === undefined) {
  await mkdir(new URL('../../docs/images/', import.meta.url), { recursive: true });
  await takeReadmePictures();
} else {
  await mkdir(folder, { recursive: true });
  for (const width of widths) {
    for (const scheme of schemes) await takeAll(folder, scheme, Number(width));
  }
}
await browser.close();
await server.stop();
await provider.close();
await rm(files, { recursive: true });

function openIdSettings(
  id: string,
  displayName: string,
  configUrl: string,
  clientId = 'coffer',
): Record<string, string> {
  return {
    [`SVC_IDENTITY_OPENID_CONFIG_URL_${id}`]: configUrl,
    [`SVC_IDENTITY_OPENID_CLIENT_ID_${id}`]: clientId,
    [`SVC_IDENTITY_OPENID_CLIENT_SECRET_${id}`]: 'coffer-secret',
    [`SVC_IDENTITY_OPENID_DISPLAY_NAME_${id}`]: displayName,
  };
}

async function fill(): Promise<void> {
  const root = new TestBrowser(server.console);
  await root.signIn();
  const buckets: [string, object?][] = [
    ['backups', { scheme: 'SSE-KMS', keyName: 'default-key' }],
    ['field-recordings', { scheme: 'SSE-S3' }],
    ['press'],
    ['research', { scheme: 'SSE-KMS' }],
  ];
  for (const [name, encryption] of buckets) await root.send('POST', '/api/buckets', { json: { name, encryption } });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 220"><rect width="400" height="220" fill="#dfe9e2"/>
    <path d="M0 170 90 90l60 50 70-90 180 130v40H0z" fill="#63b192"/><path d="M0 200 140 130l90 50 90-40 80 60v20H0z" fill="#25735a"/>
    <circle cx="310" cy="60" r="22" fill="#f3d38a"/></svg>`;
  const objects: [string, string, string, number][] = [
    ['research', 'alice/notes.md', 'text/markdown', 2_310],
    ['research', 'alice/samples/2026-03.parquet', 'application/vnd.apache.parquet', 812_400],
    ['research', 'bob/draft.tex', 'application/x-tex', 41_200],
    ['research', 'shared/glossary.csv', 'text/csv', 9_214],
    ['research', 'calibration-2026-04.json', 'application/json', 18_744],
    ['research', 'instrument-log.ndjson', 'application/x-ndjson', 1_204_221],
    ['research', 'README.md', 'text/markdown', 1_402],
    ['research', 'spectra-batch-17.h5', 'application/x-hdf5', 6_291_456],
    ['research', 'survey-results.xlsx', 'application/vnd.ms-excel', 88_012],
  ];
  const put = (bucket: string, key: string, type: string, body: Buffer) =>
    root.send('PUT', `/api/s3/${bucket}?${new URLSearchParams({ key }).toString()}`, {
      body,
      headers: { 'content-type': type },
    });
  for (const [bucket, key, type, size] of objects) await put(bucket, key, type, Buffer.alloc(size, 'coffer '));
  await put('research', 'site-map.svg', 'image/svg+xml', Buffer.from(svg));
  await fillSettings();
  await fillIdentities(root);
}

/** Versions of an object, and settings of a bucket. */
async function fillSettings(): Promise<void> {
  const s3 = s3Client(server);
  const Bucket = 'field-recordings';
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  for (const Body of ['first', 'second take', 'the third take, which is longer']) {
    await s3.send(new PutObjectCommand({ Bucket, Key: 'takes/dawn-chorus.txt', Body, ContentType: 'text/plain' }));
  }
  await s3.send(new PutObjectCommand({ Bucket, Key: 'takes/rain.txt', Body: 'rain', ContentType: 'text/plain' }));
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'takes/rain.txt' }));
  const tags = { TagSet: [{ Key: 'team', Value: 'acoustics' }] };
  await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: tags }));
  const Rules = [
    {
      ID: 'old takes',
      Status: 'Enabled' as const,
      Filter: { Prefix: 'takes/' },
      NoncurrentVersionExpiration: { NoncurrentDays: 90 },
    },
    { ID: 'drafts', Status: 'Enabled' as const, Filter: { Prefix: 'drafts/' }, Expiration: { Days: 30 } },
  ];
  await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
}

function policyFor(action: string): string {
  return JSON.stringify(
    {
      Version: '2012-10-17',
      Statement: [
        { Sid: 'Look', Effect: 'Allow', Action: ['s3:ListBucket'], Resource: ['arn:aws:s3:::research'] },
        { Sid: 'Own', Effect: 'Allow', Action: [action], Resource: ['arn:aws:s3:::research/${aws:username}/*'] },
      ],
    },
    null,
    2,
  );
}

async function fillIdentities(root: TestBrowser): Promise<void> {
  const policy = (action: string) =>
    root.send('PUT', '/api/policy?name=research-own', { json: { document: policyFor(action) } });
  for (const action of ['s3:GetObject', 's3:*Object']) await policy(action);
  await root.send('POST', '/api/groups', { json: { name: 'researchers', policies: ['research-own'] } });
  for (const name of ['ingrid', 'tomas']) {
    await root.send('POST', '/api/users', { json: { name, secretKey: `${name}-secret`, groups: ['researchers'] } });
  }
  const key = { owner: 'ingrid', name: 'microscope', description: 'uploads at night', expires: '2031-01-31T00:00:00Z' };
  await root.send('POST', '/api/access-keys', { json: key });
  const holder = { kind: 'claim', provider: 'PRIMARY_IAM', claim: 'groups', value: 'lab-*' };
  await root.send('POST', '/api/policy/attach?name=research-own', { json: holder });
}

async function signIn(page: Page, username: string): Promise<void> {
  await page.goto(`${server.console}/sign-in`);
  const link = page.getByRole('link', { name: 'Sign in with Keycloak' });
  const begun = await page.context().request.get(`${server.console}${(await link.getAttribute('href')) ?? ''}`, {
    maxRedirects: 0,
  });
  await page.goto(await logIn(begun.headers()['location'] ?? '', username, `${username}-password`));
  await page.getByRole('heading', { name: 'Buckets' }).waitFor();
}

async function signInAsRoot(page: Page): Promise<void> {
  await page.goto(`${server.console}/sign-in`);
  await page.getByLabel('Access key').fill(server.accessKey);
  await page.getByLabel('Secret key').fill(server.secretKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  // A narrow window has the links in its menu.
  await page.getByRole('heading', { name: 'Buckets' }).waitFor();
}

async function takeReadmePictures(): Promise<void> {
  const { page, context } = await newVisitor(browser);
  const take = async (name: string) => {
    await page.mouse.move(640, 790);
    await page.waitForTimeout(600);
    await page.screenshot({ path: imageAt(name) });
  };
  await signIn(page, 'alice');
  await page.goto(`${server.console}/buckets/research?object=site-map.svg`);
  await page.getByText('site-map.svg').first().waitFor();
  await page.getByRole('img', { name: /Preview/ }).waitFor();
  await take('console');
  await context.clearCookies();
  await signInAsRoot(page);
  await page.goto(`${server.console}/buckets/research/settings`);
  await page.getByRole('row').filter({ hasText: 'ingrid' }).waitFor();
  await page.getByRole('link', { name: 'Who can reach this bucket' }).click();
  await take('console-reach');
  await explain(page);
  await take('console-explain');
  await context.close();
}

async function explain(page: Page): Promise<void> {
  await page.goto(`${server.console}/explain?who=ingrid`);
  await page.getByLabel('Resource').fill('research/tomas/draft.tex');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('ingrid: denied').waitFor();
}

type Take = (name: string) => Promise<void>;

async function takeAll(folder: string, scheme: 'light' | 'dark', width: number): Promise<void> {
  const { page, context, complaints } = await newVisitor(browser, { colorScheme: scheme });
  await page.setViewportSize({ width, height: 800 });
  const take = async (name: string) => {
    if (!isWanted(name)) return;
    await page.waitForTimeout(400);
    const height = Math.min(await page.evaluate<number>('document.documentElement.scrollHeight'), maxHeight);
    const clip = { x: 0, y: 0, width, height };
    await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`), fullPage: true, clip });
  };
  let user: User | undefined;
  for (const { names, by, run } of scenes) {
    if (!names.some(isWanted)) continue;
    try {
      if (by !== user) await signInAs(page, by);
      user = by;
      await run(page, take);
    } catch (error) {
      // The other pictures are still worth their minutes.
      process.stderr.write(`${names.join(', ')} (${scheme}, ${width}): ${String(error)}\n`);
      process.exitCode = 1;
      user = undefined;
    }
  }
  await context.close();
  if (complaints.length > 0) process.stderr.write(`${complaints.join('\n')}\n`);
}

/** All, unless words of the command choose some. */
function chosen<Word extends string>(all: readonly Word[]): readonly Word[] {
  const named = all.filter((word) => words.includes(word));
  return named.length === 0 ? all : named;
}

function isWanted(name: string): boolean {
  // The states of each page are many, and are taken when they are named.
  if (only.length === 0) return !name.includes('.');
  return only.includes(name) || only.includes(name.slice(name.lastIndexOf('.')));
}

type User = 'nobody' | 'alice' | 'bob' | 'root';

async function signInAs(page: Page, user: User): Promise<void> {
  await page.context().clearCookies();
  if (user === 'root') await signInAsRoot(page);
  else if (user !== 'nobody') await signIn(page, user);
}

/** The steps to one or more pictures. */
interface Scene {
  readonly names: readonly string[];
  readonly by: User;
  readonly run: (page: Page, take: Take) => Promise<void>;
}

async function openPage(page: Page, path: string): Promise<void> {
  await page.goto(`${server.console}${path}`);
  await page.locator('h1').first().waitFor();
}

/** A page that shows what it has. */
function pageScene([name, path]: readonly [string, string]): Scene {
  return {
    names: [name],
    by: 'root',
    async run(page, take) {
      await openPage(page, path);
      await page.getByLabel('Loading').first().waitFor({ state: 'detached' });
      await take(name);
    },
  };
}

/** A page whose calls wait, fail, or are refused. */
function stateScenes([name, path]: readonly [string, string]): readonly Scene[] {
  const refusal = {
    code: 'AccessDenied',
    message: 'Your policy (readonly) does not allow admin:ServerInfo. An administrator can change that.',
  };
  const failure = { code: 'InternalError', message: 'The store does not answer: connection refused.' };
  const answers: Record<string, (route: Route) => Promise<void>> = {
    loading: () => new Promise(() => undefined),
    failed: (route) => route.fulfill({ status: 500, json: failure }),
    refused: (route) => route.fulfill({ status: 403, json: refusal }),
  };
  return Object.entries(answers).map(([state, answer]) => ({
    names: [`${name}.${state}`],
    by: 'root',
    async run(page, take) {
      await page.route('**/api/**', (route) =>
        /\/api\/(?:session|sign-in-options|transfers)$/.test(new URL(route.request().url()).pathname)
          ? route.fallback()
          : answer(route),
      );
      try {
        await openPage(page, path);
        if (state === 'loading') await page.getByLabel('Loading').first().waitFor();
        else await page.getByRole('alert').first().waitFor();
        await take(`${name}.${state}`);
      } finally {
        await page.unrouteAll({ behavior: 'ignoreErrors' });
      }
    },
  }));
}

function allScenes(): readonly Scene[] {
  return [
    {
      names: ['sign-in', 'sign-in-failed'],
      by: 'nobody',
      async run(page, take) {
        await page.goto(`${server.console}/sign-in`);
        await page.getByRole('link', { name: 'Sign in with Keycloak' }).waitFor();
        await take('sign-in');
        await page.goto(`${server.console}/oauth_callback?state=x&code=y`);
        await page.getByRole('alert').waitFor();
        await take('sign-in-failed');
      },
    },
    {
      names: ['buckets', 'create-bucket'],
      by: 'alice',
      async run(page, take) {
        await take('buckets');
        await page.getByRole('button', { name: 'Create bucket' }).click();
        await take('create-bucket');
      },
    },
    {
      names: ['objects', 'delete', 'empty', 'account'],
      by: 'alice',
      async run(page, take) {
        await page.goto(`${server.console}/buckets/research`);
        await page.getByText('README.md').waitFor();
        await take('objects');
        await page.getByLabel('Mark README.md').check();
        await page.getByRole('button', { name: 'Delete…' }).first().click();
        await take('delete');
        await page.goto(`${server.console}/buckets/press`);
        await page.getByText('Nothing in here').waitFor();
        await take('empty');
        await page.goto(`${server.console}/account`);
        await page.getByText('Policies in force').waitFor();
        await take('account');
      },
    },
    {
      names: ['refused', 'opened-by-key'],
      by: 'bob',
      async run(page, take) {
        await page.goto(`${server.console}/buckets/research`);
        await page.getByRole('alert').waitFor();
        await take('refused');
        await page.getByLabel('Open an object by its key').fill('alice/notes.md');
        await page.getByRole('button', { name: 'Open' }).click();
        await page.getByText('text/markdown').waitFor();
        await take('opened-by-key');
      },
    },
    ...pages.map(pageScene),
    {
      names: ['menu'],
      by: 'root',
      async run(page, take) {
        const menu = page.getByRole('button', { name: 'Menu', exact: true });
        if (await menu.isVisible()) await menu.click();
        await take('menu');
      },
    },
    {
      names: ['row-menu', 'share'],
      by: 'root',
      async run(page, take) {
        await page.goto(`${server.console}/buckets/research`);
        await page.getByText('README.md').waitFor();
        await page.getByRole('button', { name: 'Actions for README.md' }).click();
        await page.getByRole('menuitem', { name: 'Share…' }).waitFor();
        await take('row-menu');
        await page.getByRole('menuitem', { name: 'Share…' }).click();
        await page.getByRole('img', { name: /QR/ }).waitFor();
        await take('share');
      },
    },
    {
      names: ['explain'],
      by: 'root',
      async run(page, take) {
        await explain(page);
        await take('explain');
      },
    },
    {
      names: ['create-access-key'],
      by: 'root',
      async run(page, take) {
        await page.goto(`${server.console}/access-keys`);
        await page.getByRole('button', { name: 'Create access key' }).first().click();
        await take('create-access-key');
      },
    },
    ...pages.filter(([name]) => !withoutCalls.has(name)).flatMap(stateScenes),
  ];
}
