import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { adminCall } from '../../support/server/admin-call.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../../support/server/shared-server.ts';
import { endVisit, newVisitor, openBrowser, type Visitor } from '../open-browser.ts';
import { startSession } from '../sign-in.ts';
import { makeObjects } from '../volume/make-objects.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: SharedAccess;
let visitor: Visitor;
let page: Page;
let s3: S3Client;
let files: string;

beforeAll(async () => {
  files = await mkdtemp(join(tmpdir(), 'coffer-files-'));
});

afterAll(() => rm(files, { recursive: true, force: true }));

visitEachTest({
  server: () => sharedServer('console'),
  ready(found) {
    server = found;
    s3 = s3Client(found);
  },
  async begin(one) {
    visitor = one;
    page = one.page;
    await startSession(page, server);
  },
});

const row = (name: string) => page.getByRole('row').filter({ hasText: name });
const open = (path: string) => page.goto(`${server.console}/buckets/${path}`);

/** A bucket with objects; each body is the key. */
async function bucketWith(name: string, keys: readonly string[], versions = false): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket: name }));
  if (versions) await enableVersions(name);
  for (const key of keys) await put(name, key, key);
}

const put = (Bucket: string, Key: string, Body: string, more: object = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const enableVersions = (Bucket: string) =>
  s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
const keysOf = async (Bucket: string) =>
  ((await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key }) => Key);
const textOf = async (Bucket: string, Key: string) =>
  (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();

async function chooseIn(name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

async function pick(paths: readonly string[]): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Files…' }).click();
  await (await chooser).setFiles([...paths]);
}

describe('a folder', () => {
  it('is filtered, sorted, and opened by a typed path', async () => {
    await bucketWith('rows', ['b.txt', 'a/one', 'file10', 'file9', 'c.txt']);
    await put('rows', 'big.bin', 'x'.repeat(5000));
    await open('rows');
    await row('big.bin').waitFor();
    const names = () => page.locator('[role=rowgroup] .row-name').allInnerTexts();
    expect(await names()).toEqual(['a/', 'b.txt', 'big.bin', 'c.txt', 'file9', 'file10']);
    await page.getByRole('button', { name: 'Size' }).click();
    await page.getByRole('button', { name: 'Size' }).click();
    await expect.poll(async () => (await names())[1]).toBe('big.bin');
    await page.keyboard.press('/');
    await page.keyboard.type('FILE');
    await expect.poll(async () => (await names()).length).toBe(2);
    await page.getByRole('button', { name: 'Type a path or key' }).click();
    await page.getByLabel('Path or key').fill('s3://rows/a/one');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Details of one' }).waitFor();
  });

  it('is created, and its objects are renamed, moved and copied', async () => {
    await bucketWith('moves', ['one.txt', 'two.txt', 'deep/a/x', 'deep/y']);
    await open('moves');
    await page.getByRole('button', { name: 'Folder…' }).click();
    await page.getByLabel('Name', { exact: true }).fill('new');
    await page.getByRole('button', { name: 'Create folder' }).click();
    await page.getByText('Nothing in here').waitFor();
    await open('moves');
    await row('one.txt').waitFor();
    await chooseIn('one.txt', 'Rename…');
    await page.getByLabel('Name', { exact: true }).fill('renamed.txt');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await row('renamed.txt').waitFor();
    await page.getByLabel('Mark deep/').check();
    await page.getByLabel('Mark two.txt').check();
    await page.getByRole('toolbar').getByRole('button', { name: 'Move…' }).click();
    await page.getByRole('textbox', { name: 'Folder', exact: true }).fill('new/');
    await page.getByRole('dialog').getByRole('button', { name: 'Move', exact: true }).click();
    await row('two.txt').waitFor({ state: 'detached' });
    await expect
      .poll(() => keysOf('moves'), { timeout: 90_000 })
      .toEqual(['new/', 'new/deep/a/x', 'new/deep/y', 'new/two.txt', 'renamed.txt']);
    await visitor.picture('moved');
  });

  it('is downloaded as an archive', async () => {
    await bucketWith('zips', ['a.txt', 'f/b.txt']);
    await open('zips');
    await page.getByLabel('Mark all rows').check();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as zip' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('zips.zip');
    const bytes = await readFile(await download.path());
    expect(bytes.subarray(0, 4)).toEqual(Buffer.from('PK\u0003\u0004'));
    expect(bytes.toString('latin1')).toContain('f/b.txt');
  });

  it('of many rows is read page by page, and begins where the user wants', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'many' }));
    await makeObjects(server, {
      bucket: 'many',
      count: 5_300,
      keyOf: (index) => `key-${String(index).padStart(5, '0')}`,
      sizeOf: () => 1,
    });
    await open('many');
    await row('key-00000').waitFor();
    await page.getByLabel('Jump to a name').fill('key-05100');
    await page.keyboard.press('Enter');
    await row('key-05100').waitFor();
    expect(await row('key-05099').count()).toBe(0);
    await page.getByRole('button', { name: 'From the beginning' }).click();
    await row('key-00000').waitFor();
    await page.getByLabel('Search names that begin with').fill('key-0420');
    await row('key-04209').waitFor();
    await page.getByText('10 entries').waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(80);
  });
});

describe('the first page', () => {
  it('is smaller than 200 KiB', async () => {
    const fresh = await newVisitor(await openBrowser(), { fresh: true });
    const sizes: Promise<number>[] = [];
    fresh.page.on('response', (response) => {
      sizes.push(
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => responseBodySize),
      );
    });
    await fresh.page.goto(server.console);
    await fresh.page.getByLabel('Access key').waitFor();
    await fresh.untilAnswered();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    await endVisit(fresh);
    expect(bytes).toBeGreaterThan(50 * 1024);
    expect(bytes).toBeLessThan(200 * 1024);
  });
});

describe('versions', () => {
  it('are shown, restored and deleted, and delete markers removed', async () => {
    await bucketWith('versions', [], true);
    await put('versions', 'a.txt', 'first');
    await put('versions', 'a.txt', 'the second');
    await open('versions?object=a.txt');
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByText('5 B more than before').waitFor();
    await visitor.picture('versions');
    await page.getByRole('button', { name: /Restore the version/ }).click();
    await expect.poll(() => textOf('versions', 'a.txt')).toBe('first');
    await chooseIn('a.txt', 'Delete…');
    await page.getByRole('dialog').getByText('what is deleted can be restored').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Nothing in here').waitFor();
    await page.getByRole('switch', { name: 'Versions' }).click();
    await page.getByText('delete marker').first().waitFor();
    await row('delete marker').getByRole('button', { name: 'Actions for a.txt' }).click();
    await page.getByRole('menuitem', { name: 'Remove the delete marker…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await expect.poll(() => textOf('versions', 'a.txt').catch(() => 'none')).toBe('first');
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: 'versions' }));
    expect([Versions.length, DeleteMarkers.length]).toEqual([3, 0]);
  });
});

describe('the properties of an object', () => {
  it('are edited: tags and metadata', async () => {
    await bucketWith('properties', []);
    await put('properties', 'a.txt', 'text', { ContentType: 'text/plain', Metadata: { old: '1' } });
    await open('properties?object=a.txt');
    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.getByRole('button', { name: 'Edit tags' }).click();
    await page.getByRole('button', { name: 'Add a tag' }).click();
    await page.getByLabel('Name 1').fill('team');
    await page.getByLabel('Value 1').fill('Ü + b');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The tags are saved.').waitFor();
    await page.getByRole('button', { name: 'Edit metadata' }).click();
    await page.getByLabel('Content type').fill('text/markdown');
    await page.getByLabel('Value 1').fill('two');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The metadata are saved.').waitFor();
    const { TagSet } = await s3.send(new GetObjectTaggingCommand({ Bucket: 'properties', Key: 'a.txt' }));
    expect(TagSet).toEqual([{ Key: 'team', Value: 'Ü + b' }]);
    expect(await s3.send(new HeadObjectCommand({ Bucket: 'properties', Key: 'a.txt' }))).toMatchObject({
      ContentType: 'text/markdown',
      Metadata: { old: 'two' },
    });
  });

  it('are edited: retention and legal hold', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'locked', ObjectLockEnabledForBucket: true }));
    await put('locked', 'a.txt', 'text');
    await open('locked?object=a.txt');
    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.getByRole('button', { name: 'Edit retention' }).click();
    await page.getByLabel('Until').fill('2099-01-31T12:00:00');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The retention is set.').waitFor();
    const { Retention } = await s3.send(new GetObjectRetentionCommand({ Bucket: 'locked', Key: 'a.txt' }));
    expect(Retention?.Mode).toBe('GOVERNANCE');
    expect(Retention?.RetainUntilDate?.getUTCFullYear()).toBe(2099);
    await page.getByLabel('No user can delete this version').click();
    const held = async () =>
      (await s3.send(new HeadObjectCommand({ Bucket: 'locked', Key: 'a.txt' }))).ObjectLockLegalHoldStatus;
    await expect.poll(held).toBe('ON');
  });

  it('are shared by a link that works without an account', async () => {
    await bucketWith('links', ['a.txt']);
    await open('links?object=a.txt');
    await page.getByRole('button', { name: 'Share…' }).click();
    await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
    const url = await page.getByLabel('Link', { exact: true }).inputValue();
    await visitor.picture('share');
    expect(await (await fetch(url)).text()).toBe('a.txt');
    await page.getByText('To upload', { exact: true }).click();
    await expect.poll(async () => page.getByLabel('Link', { exact: true }).inputValue()).not.toBe(url);
    const upload = await page.getByLabel('Link', { exact: true }).inputValue();
    expect((await fetch(upload, { method: 'PUT', body: 'changed' })).status).toBe(200);
    expect(await textOf('links', 'a.txt')).toBe('changed');
  });
});

describe('previews', () => {
  it('show what is stored and run nothing of it', async () => {
    await bucketWith('previews', []);
    const script = '<script>document.title = "owned"; fetch("/api/session")</script>';
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/>${script}</svg>`;
    await put('previews', 'page.html', `<h1>hi</h1>${script}`, { ContentType: 'text/html' });
    await put('previews', 'logo.svg', svg, { ContentType: 'image/svg+xml' });
    await put('previews', 'data.json', '{"a":[1,2]}', { ContentType: 'application/json' });
    await put('previews', 'table.csv', 'name,count\n"x, y",2\n', { ContentType: 'text/csv' });
    await put('previews', 'cod\u202Egpj.exe', script);
    await open('previews?object=page.html');
    await page.getByText('<h1>hi</h1>').waitFor();
    await open('previews?object=logo.svg');
    await page.getByRole('img', { name: 'Preview of logo.svg' }).waitFor();
    await open('previews?object=data.json');
    await page.getByText('"a": [').waitFor();
    await open('previews?object=table.csv');
    await page.getByRole('cell', { name: 'x, y' }).waitFor();
    await page.getByText('U+202E').first().waitFor();
    await visitor.picture('preview');
    expect(await page.title()).toContain('previews');
    const opened = await visitor.context.newPage();
    const document = await opened.goto(
      `${server.console}/api/buckets/previews/content?key=logo.svg&view=image%2Fsvg%2Bxml`,
    );
    expect(document?.headers()['content-security-policy']).toContain('sandbox');
    expect(await opened.title()).not.toBe('owned');
  });
});

describe('uploads', () => {
  it('go on after a pause, and after a reload with the same file', async () => {
    await bucketWith('large', []);
    const path = join(files, 'large.bin');
    await writeFile(path, Buffer.alloc(40 * 1024 * 1024, 'abcdefg'));
    // Slow enough to be paused.
    const session = await visitor.context.newCDPSession(page);
    const slow = (uploadThroughput: number) =>
      session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await session.send('Network.enable');
    await open('large');
    await page.getByText('Nothing in here').waitFor();
    await slow(8 * 1024 * 1024);
    await pick([path]);
    const parts = async () => {
      const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: 'large' }));
      return Uploads.length;
    };
    await expect.poll(parts, { timeout: 90_000 }).toBe(1);
    await page.getByRole('button', { name: 'Pause large.bin' }).click();
    await page.getByText('paused at').waitFor();
    await visitor.picture('paused');
    await page.getByRole('button', { name: 'Resume large.bin' }).click();
    await page.getByRole('button', { name: 'Pause large.bin' }).waitFor();
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await slow(-1);
    await page.getByText('Interrupted uploads').waitFor();
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Pick the file to go on' }).click();
    await (await chooser).setFiles(path);
    await page.getByText('1 uploaded').waitFor();
    const { ContentLength } = await s3.send(new HeadObjectCommand({ Bucket: 'large', Key: 'large.bin' }));
    expect(ContentLength).toBe(40 * 1024 * 1024);
    expect(await parts()).toBe(0);
  });

  it('ask once what to do with all names that are taken', async () => {
    await bucketWith('taken', ['a.txt', 'b.txt']);
    const paths = ['a.txt', 'b.txt'].map((name) => join(files, name));
    for (const path of paths) await writeFile(path, 'new');
    await open('taken');
    await row('a.txt').waitFor();
    await pick(paths);
    await page.getByRole('button', { name: 'Rename all' }).click();
    await page.getByText('2 uploaded').waitFor();
    expect(await keysOf('taken')).toEqual(['a (1).txt', 'a.txt', 'b (1).txt', 'b.txt']);
    expect(await textOf('taken', 'a.txt')).toBe('a.txt');
  });
});

describe('a bucket', () => {
  it('is created with versions, lock and tags', async () => {
    await page.goto(`${server.console}/buckets`);
    await page.getByRole('button', { name: 'Create bucket' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('made-here');
    await page.getByLabel('Object lock').check();
    await page.getByRole('button', { name: 'Add a tag' }).click();
    await page.getByLabel('Name 1').fill('team');
    await page.getByLabel('Value 1').fill('blue');
    await page.getByRole('dialog').getByRole('button', { name: 'Create bucket' }).click();
    await page.getByText('Nothing in here').waitFor();
    const Bucket = 'made-here';
    expect((await s3.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Enabled');
    expect((await s3.send(new GetBucketTaggingCommand({ Bucket }))).TagSet).toEqual([{ Key: 'team', Value: 'blue' }]);
  });

  it('keeps what its versioning excludes, and asks before it is forgotten', async () => {
    const Bucket = 'excluding';
    await s3.send(new CreateBucketCommand({ Bucket }));
    // The AWS SDK does not know these elements.
    const call = async (method: string, body?: Buffer) =>
      (await adminCall(server.s3, server, method, `/${Bucket}?versioning=`, body)).value;
    const excluded =
      '<ExcludedPrefixes><Prefix>spark/_temporary/</Prefix></ExcludedPrefixes><ExcludeFolders>true</ExcludeFolders>';
    const document = `<VersioningConfiguration><Status>Enabled</Status>${excluded}</VersioningConfiguration>`;
    await call('PUT', Buffer.from(document));
    const state = () => call('GET');
    await put(Bucket, 'a.txt', 'a');
    await open(Bucket);
    await chooseIn('a.txt', 'Delete…');
    await page.getByRole('dialog').getByText('This cannot be undone.').waitFor();

    await open(`${Bucket}/settings`);
    await page.getByText('Keys that begin with “spark/_temporary/” keep no versions.').waitFor();
    await page.getByText('Keys that end with “/” keep no versions.').waitFor();
    await page.getByLabel('Keep versions').click();
    await page.getByRole('dialog').getByText('They are forgotten').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await state()).toContain('<Prefix>spark/_temporary/</Prefix>');
    await page.getByLabel('Keep versions').click();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('Versioning is suspended.').waitFor();
    expect(await state()).toMatch(/<Status>Suspended<.*<ExcludeFolders>true</s);
    await page.getByLabel('Keep versions').click();
    await page.getByText('Versioning is on.').waitFor();
    expect(await state()).toMatch(/<Status>Enabled<.*<ExcludeFolders>true</s);
  });

  it('has settings that are changed', async () => {
    await bucketWith('settings', ['a.txt']);
    const Bucket = 'settings';
    await open('settings/settings');
    await page.getByLabel('Keep versions').click();
    await page.getByText('Versioning is on.').waitFor();
    expect((await s3.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Enabled');

    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByLabel('Keys that begin with').fill('logs/');
    await page.getByLabel('Delete objects after').fill('30');
    await page.getByRole('button', { name: 'Save rule' }).click();
    // The dialog shows the same sentence before the rule is stored.
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByText('Objects whose keys begin with “logs/” are deleted 30 days after they were stored.').waitFor();
    const { Rules } = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
    expect(Rules).toMatchObject([{ Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } }]);

    await page.getByLabel('Read', { exact: true }).click();
    await page.getByText('The access without an account is saved.').waitFor();
    expect(await (await fetch(`${server.s3}/settings/a.txt`)).text()).toBe('a.txt');
    const { Policy } = await s3.send(new GetBucketPolicyCommand({ Bucket }));
    expect(Policy).toContain('CofferAnonymousObjects');

    await page.getByRole('button', { name: 'Add a site' }).click();
    await page.getByRole('combobox', { name: 'Origins' }).fill('https://app.example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save rule' }).click();
    await page.getByText('Pages of https://app.example.com may send GET.').waitFor();
    const { CORSRules } = await s3.send(new GetBucketCorsCommand({ Bucket }));
    expect(CORSRules?.[0]?.AllowedOrigins).toEqual(['https://app.example.com']);
    await visitor.picture('settings');
  });
});
