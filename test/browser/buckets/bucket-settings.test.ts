import { readFile } from 'node:fs/promises';
import {
  CreateBucketCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketReplicationCommand,
  GetBucketWebsiteCommand,
  GetPublicAccessBlockCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
  type LifecycleRule,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { adminCall } from '../../support/server/admin-call.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../../support/server/shared-server.ts';
import type { Visitor } from '../open-browser.ts';
import { startSession } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const hook = 'arn:minio:sqs:us-east-1:HOOK:webhook';

let server: SharedAccess;
let visitor: Visitor;
let page: Page;
let s3: S3Client;

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

async function bucketWith(Bucket: string, keys: readonly string[]): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
}

const keysOf = async (Bucket: string) =>
  ((await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key }) => Key);
const section = (name: string) => page.getByRole('region', { name, exact: true });
const dialog = () => page.getByRole('dialog');

async function choose(label: string, option: string | RegExp): Promise<void> {
  await dialog().getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option }).click();
}

describe('the settings of a bucket', () => {
  it('tell a target about changes, and show what is wrong with it', async () => {
    await bucketWith('told', []);
    await page.goto(`${server.console}/buckets/told/settings`);
    await page.getByRole('button', { name: 'Add a notification' }).click();
    await dialog().getByRole('combobox', { name: 'Target' }).fill('arn:minio:sqs::none:webhook');
    await dialog().getByLabel('and end with').fill('.png');
    await page.getByRole('button', { name: 'Save notification' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByRole('combobox', { name: 'Target' }).fill(hook);
    await dialog().getByLabel('and end with').click();
    await page.getByRole('button', { name: 'Save notification' }).click();
    await section('Notifications')
      .getByText('When an object whose key ends with “.png” is stored, HOOK:webhook is told.')
      .waitFor();
    const { QueueConfigurations } = await s3.send(new GetBucketNotificationConfigurationCommand({ Bucket: 'told' }));
    expect(QueueConfigurations).toMatchObject([{ QueueArn: hook, Events: ['s3:ObjectCreated:*'] }]);
    // The page asks again every 15 seconds. A page that is opened now asks at once.
    const silent = section('Notifications').getByText('the target does not answer');
    await expect
      .poll(
        async () => {
          await page.reload();
          await section('Notifications').getByText('HOOK:webhook is told').waitFor();
          await visitor.untilAnswered();
          return silent.count();
        },
        { timeout: 180_000 },
      )
      .toBe(1);
    await section('Notifications')
      .getByRole('button', { name: /^Remove the rule/ })
      .click();
    await section('Notifications').getByText('No rules').waitFor();
    const after = await s3.send(new GetBucketNotificationConfigurationCommand({ Bucket: 'told' }));
    expect(after.QueueConfigurations).toBeUndefined();
  });

  it('replicate the bucket, and count what was sent', async () => {
    await bucketWith('source', ['before']);
    await bucketWith('replica', []);
    await page.goto(`${server.console}/buckets/source/settings`);
    await page.getByRole('button', { name: 'Add a target' }).click();
    await dialog().getByLabel('Address of the other server').fill(server.s3);
    await dialog().getByLabel('Bucket there').fill('replica');
    await dialog().getByLabel('Access key').fill(server.accessKey);
    await dialog().getByLabel('Secret key').fill(server.secretKey);
    await page.getByRole('button', { name: 'Add target' }).last().click();
    await section('Replication')
      .getByText(/\/replica$/)
      .waitFor();
    await page.getByRole('button', { name: 'Add a replication' }).click();
    await page.getByRole('button', { name: 'Save replication' }).click();
    await section('Replication')
      .getByText(/New versions of all objects are sent to .*\/replica\./)
      .waitFor();
    expect(
      (await s3.send(new GetBucketReplicationCommand({ Bucket: 'source' }))).ReplicationConfiguration?.Rules,
    ).toHaveLength(1);
    await s3.send(new PutObjectCommand({ Bucket: 'source', Key: 'new', Body: 'new' }));
    await expect.poll(() => keysOf('replica'), { timeout: 360_000 }).toEqual(['new']);
    await section('Replication').getByText('1 sent').waitFor();
    await page.getByRole('button', { name: 'Send everything again' }).click();
    await expect.poll(() => keysOf('replica'), { timeout: 360_000 }).toEqual(['before', 'new']);
    await visitor.picture('replication');
  });

  it('have a quota, a website and an access log', async () => {
    await bucketWith('site', ['index.html']);
    await bucketWith('logs', []);
    await page.goto(`${server.console}/buckets/site/settings`);
    await page.getByRole('button', { name: 'Edit the quota' }).click();
    await dialog().getByLabel('At most').fill('5');
    await page.getByRole('button', { name: 'Save quota' }).click();
    await section('Quota').getByText('10 B of 5.0 GiB used').waitFor();

    await page.getByRole('button', { name: 'Edit the website' }).click();
    await choose('What it answers', 'The objects of the bucket');
    await dialog().getByLabel('Page of errors').fill('404.html');
    await page.getByRole('button', { name: 'Save website' }).click();
    await section('Website').getByText('Errors show 404.html.').waitFor();
    expect(await s3.send(new GetBucketWebsiteCommand({ Bucket: 'site' }))).toMatchObject({
      IndexDocument: { Suffix: 'index.html' },
      ErrorDocument: { Key: '404.html' },
    });

    await page.getByRole('button', { name: 'Edit the access log' }).click();
    await choose('Bucket of the log', 'logs');
    await choose('Folders', 'By the day of the requests');
    await page.getByRole('button', { name: 'Save access log' }).click();
    await section('Access log').getByRole('link', { name: 'logs/site/' }).waitFor();
    expect((await s3.send(new GetBucketLoggingCommand({ Bucket: 'site' }))).LoggingEnabled).toMatchObject({
      TargetBucket: 'logs',
      TargetPrefix: 'site/',
    });
  });

  it('preview what a lifecycle rule would touch', async () => {
    await bucketWith('ages', ['logs/a', 'logs/b', 'keep']);
    await page.goto(`${server.console}/buckets/ages/settings`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByLabel('Keys that begin with').fill('logs/');
    await page.getByLabel('Delete objects after').fill('30');
    await page.getByRole('button', { name: 'What would it touch?' }).click();
    await page.getByText('Later, if nothing changes: 2 objects, 12 B.').waitFor();
    await page.getByText('For example logs/a, logs/b').waitFor();
  });

  it('complete names in the policy, check it as that of the bucket, and say who reaches the bucket', async () => {
    await bucketWith('shared', ['a']);
    await page.goto(`${server.console}/users`);
    await page.getByRole('button', { name: 'Create user' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill('rita');
    await dialog().getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('button', { name: 'I have kept it' }).click();

    await page.goto(`${server.console}/buckets/shared/settings`);
    await section('Who can reach this bucket').getByText('The root user alone.').waitFor();
    await page.getByRole('button', { name: 'Edit the policy' }).click();
    const text = dialog().getByRole('textbox', { name: 'Document' });
    await text.fill(
      '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam:::user/rita"}, "Resource": "arn:aws:s3:::shared/*", "Action": "s3:GetObj',
    );
    await dialog().getByRole('button', { name: 's3:GetObjectTagging' }).waitFor();
    await text.press('Control+Space');
    await expect.poll(() => text.inputValue()).toMatch(/"s3:GetObject"$/);
    await text.press('End');
    await page.keyboard.type('}]}');
    await dialog().getByText('by user/rita').waitFor();
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('The policy of the bucket is saved.').waitFor();
    expect((await s3.send(new GetBucketPolicyCommand({ Bucket: 'shared' }))).Policy).toContain('user/rita');

    await page.reload();
    const row = section('Who can reach this bucket').getByRole('row').filter({ hasText: 'rita' });
    await row.getByText('yes').waitFor();
    await row.getByRole('link', { name: 'rita' }).click();
    await section('Rights in buckets').getByRole('row').filter({ hasText: 'shared' }).getByText('yes').waitFor();
    await visitor.picture('reach');
  });
});

const rule = (ID: string, Prefix: string): LifecycleRule => ({
  ID,
  Status: 'Enabled',
  Filter: { Prefix },
  Expiration: { Days: 30 },
});
const setRules = (Bucket: string, ...Rules: LifecycleRule[]) =>
  s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
const rulesOf = async (Bucket: string) =>
  ((await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules ?? []).map(({ ID }) => ID);

describe('what another administrator changes while the settings are shown', () => {
  it('stays, if it is an excluded prefix: the page asks before it is forgotten', async () => {
    const Bucket = 'versions-of-two';
    await bucketWith(Bucket, []);
    await page.goto(`${server.console}/buckets/${Bucket}/settings`);
    await section('Versioning').getByLabel('Keep versions').waitFor();
    // The AWS SDK does not know this element.
    const excluded = '<ExcludedPrefixes><Prefix>tmp/</Prefix></ExcludedPrefixes>';
    const call = async (method: string, body?: string) =>
      (await adminCall(server.s3, server, method, `/${Bucket}?versioning=`, body && Buffer.from(body))).value;
    await call('PUT', `<VersioningConfiguration><Status>Enabled</Status>${excluded}</VersioningConfiguration>`);
    await section('Versioning').getByLabel('Keep versions').click();
    await dialog().getByText('They are forgotten').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    expect(await call('GET')).toContain('<Prefix>tmp/</Prefix>');
    await section('Versioning').getByText('Keys that begin with “tmp/” keep no versions.').waitFor();
  });

  it('stays, if it is a lifecycle rule', async () => {
    const Bucket = 'rules-of-two';
    await bucketWith(Bucket, []);
    await setRules(Bucket, rule('first', 'first/'));
    await page.goto(`${server.console}/buckets/${Bucket}/settings`);
    await section('Lifecycle').getByText('first', { exact: true }).waitFor();
    await setRules(Bucket, rule('first', 'first/'), rule('theirs', 'theirs/'));
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await dialog().getByLabel('Name').fill('mine');
    await dialog().getByLabel('Delete objects after').fill('30');
    await page.getByRole('button', { name: 'Save rule' }).click();
    await section('Lifecycle').getByText('mine', { exact: true }).waitFor();
    expect(await rulesOf(Bucket)).toEqual(['first', 'theirs', 'mine']);
    await page.getByRole('button', { name: 'Remove the rule first' }).click();
    await section('Lifecycle').getByText('first', { exact: true }).waitFor({ state: 'detached' });
    expect(await rulesOf(Bucket)).toEqual(['theirs', 'mine']);
  });

  it('is not overwritten, if it is the rule that is edited', async () => {
    const Bucket = 'one-rule-of-two';
    await bucketWith(Bucket, []);
    await setRules(Bucket, rule('logs', 'logs/'));
    await page.goto(`${server.console}/buckets/${Bucket}/settings`);
    await page.getByRole('button', { name: 'Edit the rule logs' }).click();
    await dialog().getByLabel('Delete objects after').fill('7');
    await setRules(Bucket, rule('logs', 'old-logs/'));
    await page.getByRole('button', { name: 'Save rule' }).click();
    await dialog().getByRole('alert').getByText('The rule was changed or removed meanwhile.').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await section('Lifecycle').getByText('Objects whose keys begin with “old-logs/” are deleted 30 days').waitFor();
  });

  it('is not overwritten, if it is the website that is edited', async () => {
    const Bucket = 'website-of-two';
    await bucketWith(Bucket, []);
    const website = (Suffix: string) => ({ Bucket, WebsiteConfiguration: { IndexDocument: { Suffix } } });
    await s3.send(new PutBucketWebsiteCommand(website('index.html')));
    await page.goto(`${server.console}/buckets/${Bucket}/settings`);
    await page.getByRole('button', { name: 'Edit the website' }).click();
    await dialog().getByLabel('Page of errors').fill('404.html');
    await s3.send(new PutBucketWebsiteCommand(website('theirs.html')));
    await page.getByRole('button', { name: 'Save website' }).click();
    await dialog().getByRole('alert').getByText('The setting was changed meanwhile.').waitFor();
    expect(await s3.send(new GetBucketWebsiteCommand({ Bucket }))).toMatchObject(
      website('theirs.html').WebsiteConfiguration,
    );
  });

  it('stays, if it is another public access block', async () => {
    const Bucket = 'blocks-of-two';
    await bucketWith(Bucket, []);
    await page.goto(`${server.console}/buckets/${Bucket}/settings`);
    const box = section('Public access block').getByLabel('Refuse a public policy');
    await box.waitFor();
    const PublicAccessBlockConfiguration = { BlockPublicAcls: true };
    await s3.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));
    await box.click();
    await expect.poll(() => box.isChecked()).toBe(true);
    const stored = await s3.send(new GetPublicAccessBlockCommand({ Bucket }));
    expect(stored.PublicAccessBlockConfiguration).toMatchObject({ BlockPublicAcls: true, BlockPublicPolicy: true });
  });
});

describe('a prefix with a hidden character', () => {
  it('is marked in the sentences of the rules', async () => {
    const Bucket = 'hidden-prefix';
    await bucketWith(Bucket, []);
    const Rules: LifecycleRule[] = [
      { ID: 'hidden', Status: 'Enabled', Filter: { Prefix: 'cod\u202Egpj/' }, Expiration: { Days: 30 } },
    ];
    await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
    await page.goto(`${server.console}/buckets/${Bucket}/settings`);
    await section('Lifecycle').getByText('U+202E').waitFor();
  });
});

describe('a folder', () => {
  it('is renamed by the server, also when its window is closed', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `old/${String(index).padStart(2, '0')}`);
    await bucketWith('renamed', names);
    await page.goto(`${server.console}/buckets/renamed`);
    await page.getByRole('button', { name: 'Actions for old/', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill('new');
    await dialog().getByRole('button', { name: 'Rename' }).click();
    await dialog().waitFor({ state: 'detached' });
    await page.goto('about:blank');
    await expect
      .poll(() => keysOf('renamed'), { timeout: 360_000 })
      .toEqual(names.map((name) => name.replace('old', 'new')));
  });
});

describe('all identities', () => {
  it('are exported as an archive, and imported', async () => {
    await page.goto(`${server.console}/users`);
    await page.getByRole('button', { name: 'All identities' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as an archive' }).click(),
    ]);
    expect((await readFile(await download.path())).subarray(0, 2).toString()).toBe('PK');
    await page.getByRole('button', { name: 'All identities' }).click();
    await page.getByRole('menuitem', { name: 'Import an archive…' }).click();
    const chooser = page.waitForEvent('filechooser');
    await dialog().getByRole('button', { name: 'Archive' }).click();
    await (await chooser).setFiles(await download.path());
    await dialog().getByRole('button', { name: 'Import' }).click();
    await dialog()
      .getByRole('status')
      .getByText(/^Imported: /)
      .waitFor();
    await dialog().getByRole('button', { name: 'Close', exact: true }).last().click();
  });
});
