import {
  CreateBucketCommand,
  GetBucketLifecycleConfigurationCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startAzurite } from '../support/server/start-azurite.ts';
import { sharedServer, type SharedAccess } from '../support/server/shared-server.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { startGoogleDouble } from '../support/tiering/google-double.ts';
import type { Visitor } from './open-browser.ts';
import { signIn } from './sign-in.ts';
import { visitEachTest } from './visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: SharedAccess;
/** The server of the tier. */
let other: RunningServer;
let visitor: Visitor;
let page: Page;
let s3: S3Client;

const patient = { timeout: 360_000 };

beforeAll(async () => {
  other = await startServer({ env: { SVC_THREADS: '1' } });
  await untilReady(other);
});

afterAll(() => other?.stop());

visitEachTest({
  server: () => sharedServer(),
  ready(found) {
    server = found;
    s3 = s3Client(found);
  },
  async begin(one) {
    visitor = one;
    page = one.page;
    await signIn(page, server);
  },
});

const open = (name: string) =>
  page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true }).click();
const dialog = () => page.getByRole('dialog');
const row = (text: string) => page.getByRole('row').filter({ hasText: text });

async function chooseIn(name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

/** The value that the admin API answers to root. */
const asRoot = async <Value>(method: string, call: string) =>
  (await adminCall(server.s3, server, method, call)).value as Value;

describe('a batch job', () => {
  it('is started from its definition, whose mistakes are named, and shows what it did', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'logs' }));
    for (const Key of ['a.log', 'b.log', 'kept.txt'])
      await s3.send(new PutObjectCommand({ Bucket: 'logs', Key, Body: Key }));
    await open('Batch jobs');
    await page.getByRole('heading', { name: 'No batch jobs' }).waitFor();
    await page.getByRole('button', { name: 'Start job' }).click();
    const definition = dialog().getByLabel('Definition');
    await dialog().getByRole('button', { name: 'Start job' }).click();
    await dialog().getByRole('alert').getByText('there is no bucket BUCKET').waitFor();
    await definition.fill(
      'expire:\n  apiVersion: v1\n  bucket: logs\n  rules:\n    - type: object\n      colour: red\n',
    );
    await dialog().getByRole('button', { name: 'Start job' }).click();
    await dialog()
      .getByRole('alert')
      .getByText(/expire\.rules\.0: .*colour/)
      .waitFor();
    await definition.fill(
      'expire:\n  apiVersion: v1\n  bucket: logs\n  rules:\n    - type: object\n      name: "*.log"\n',
    );
    await dialog().getByRole('button', { name: 'Start job' }).click();
    await row('Remove objects in logs').getByText('done').waitFor();
    await row('Remove objects in logs').getByText('2 versions').waitFor();
    await visitor.picture('batch-jobs');
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'logs' }));
    expect(Contents.map(({ Key }) => Key)).toEqual(['kept.txt']);
  });

  it('is cancelled while it runs, and its definition is shown', async () => {
    const Bucket = 'held';
    await s3.send(new CreateBucketCommand({ Bucket }));
    await s3.send(new PutObjectCommand({ Bucket, Key: 'held', Body: 'too large for the quota' }));
    await s3Client(other).send(new CreateBucketCommand({ Bucket }));
    const quota = Buffer.from(JSON.stringify({ quota: 1, quotatype: 'hard' }));
    const set = await adminCall(other.s3, other, 'PUT', `set-bucket-quota?bucket=${Bucket}`, quota);
    expect(set.status).toBe(200);
    const credentials = { accessKey: other.accessKey, secretKey: other.secretKey };
    const job = {
      apiVersion: 'v1',
      source: { bucket: Bucket },
      target: { bucket: Bucket, endpoint: other.s3, credentials },
      // The job waits between its attempts to send what the other side has no room for.
      flags: { retry: { attempts: 5, delay: '1h' } },
    };
    await open('Batch jobs');
    await page.getByRole('button', { name: 'Start job' }).click();
    await dialog()
      .getByLabel('Definition')
      .fill(JSON.stringify({ replicate: job }));
    await dialog().getByRole('button', { name: 'Start job' }).click();
    await row('Replicate in held').getByText('runs').waitFor();
    await chooseIn('the job', 'Show the definition');
    await dialog().getByText('"secretKey": "*redacted').waitFor();
    await page.keyboard.press('Escape');
    await chooseIn('the job', 'Cancel…');
    await dialog().getByRole('button', { name: 'Cancel job' }).click();
    await row('Replicate in held').getByText('cancelled', { exact: true }).waitFor();
    expect(await asRoot('GET', 'list-jobs')).toEqual({ jobs: [] });
    const { KeyCount } = await s3Client(other).send(new ListObjectsV2Command({ Bucket }));
    expect(KeyCount).toBe(0);
  });

  it('that changes keys is refused without a key service', async () => {
    await open('Batch jobs');
    await page.getByRole('button', { name: 'Start job' }).click();
    await dialog().getByText('Change keys').click();
    await dialog().getByRole('button', { name: 'Start job' }).click();
    await dialog().getByRole('alert').getByText('key service').waitFor();
  });
});

describe('a tier', () => {
  it('of Google Cloud Storage is added and given another key by the file of a service account', async () => {
    const google = await startGoogleDouble();
    onTestFinished(() => google.close());
    const keyFile = { name: 'key.json', mimeType: 'application/json', buffer: Buffer.from(google.keyFile) };
    const noKey = { ...keyFile, buffer: Buffer.from('{}') };
    await open('Tiers');
    await page.getByRole('heading', { name: 'No tiers' }).waitFor();
    await page.getByRole('button', { name: 'Add tier' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill('google');
    await dialog().getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Google Cloud Storage' }).click();
    await dialog().getByLabel('Address').fill(google.endpoint);
    await dialog().getByLabel('Bucket there').fill('cold');
    await dialog().getByLabel('Storage class').fill('NEARLINE');
    expect(await dialog().getByLabel('Access key').count()).toBe(0);
    const pick = page.locator('[role=dialog] input[type=file], input[type=file]').last();
    await pick.setInputFiles(noKey);
    await dialog().getByRole('button', { name: 'Add tier' }).click();
    await dialog().getByRole('alert').getByText('no file of a key of a service account').waitFor();
    await pick.setInputFiles(keyFile);
    await dialog().getByRole('button', { name: 'Add tier' }).click();
    await row('GOOGLE').getByText(`${google.endpoint}/cold`).waitFor();
    const place = { Endpoint: google.endpoint, Bucket: 'cold', StorageClass: 'NEARLINE' };
    expect(await asRoot('GET', 'tier')).toMatchObject([{ Name: 'GOOGLE', Type: 'gcs', GCS: place }]);
    await chooseIn('GOOGLE', 'Check');
    await page.getByText('The tier GOOGLE takes all calls.').waitFor();
    await chooseIn('GOOGLE', 'Change keys…');
    await pick.setInputFiles(keyFile);
    await dialog().getByRole('button', { name: 'Change keys' }).click();
    await page.getByText('The tier GOOGLE has new keys.').waitFor();
    await chooseIn('GOOGLE', 'Remove…');
    await dialog().getByRole('button', { name: 'Remove tier' }).click();
    await page.getByRole('heading', { name: 'No tiers' }).waitFor();
  });

  it('of Azure Blob Storage is added and given other keys by the name and the key of an account', async () => {
    const azure = await startAzurite();
    onTestFinished(() => azure.remove());
    await azure.container('cold').create();
    const wrongKey = Buffer.alloc(48, 1).toString('base64');
    await open('Tiers');
    await page.getByRole('heading', { name: 'No tiers' }).waitFor();
    await page.getByRole('button', { name: 'Add tier' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill('azure');
    await dialog().getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Azure Blob Storage' }).click();
    await dialog().getByLabel('Address').fill(azure.url);
    await dialog().getByLabel('Container').fill('cold');
    await dialog().getByLabel('Prefix', { exact: true }).fill('bodies');
    expect(await dialog().getByLabel('Region').count()).toBe(0);
    await dialog().getByLabel('Account name').fill(azure.accountName);
    await dialog().getByLabel('Account key', { exact: true }).fill(wrongKey);
    await dialog().getByRole('button', { name: 'Add tier' }).click();
    await dialog().getByRole('alert').waitFor();
    expect(await asRoot('GET', 'tier')).toEqual([]);
    await dialog().getByLabel('Account key', { exact: true }).fill(azure.accountKey);
    await dialog().getByRole('button', { name: 'Add tier' }).click();
    await row('AZURE').getByText(`${azure.url}/cold/bodies`).waitFor();
    const place = { Endpoint: azure.url, Bucket: 'cold', Prefix: 'bodies', AccountName: azure.accountName };
    expect(await asRoot('GET', 'tier')).toMatchObject([{ Name: 'AZURE', Type: 'azure', Azure: place }]);
    await chooseIn('AZURE', 'Check');
    await page.getByText('The tier AZURE takes all calls.').waitFor();
    await chooseIn('AZURE', 'Change keys…');
    await dialog().getByLabel('Account key', { exact: true }).fill(wrongKey);
    await dialog().getByRole('button', { name: 'Change keys' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Account key', { exact: true }).fill(azure.accountKey);
    await dialog().getByRole('button', { name: 'Change keys' }).click();
    await page.getByText('The tier AZURE has new keys.').waitFor();
    await chooseIn('AZURE', 'Remove…');
    await dialog().getByRole('button', { name: 'Remove tier' }).click();
    await page.getByRole('heading', { name: 'No tiers' }).waitFor();
  });

  it('is added, checked, given other keys and removed', async () => {
    const there = s3Client(other);
    await there.send(new CreateBucketCommand({ Bucket: 'cold' }));
    await open('Tiers');
    await page.getByRole('heading', { name: 'No tiers' }).waitFor();
    await page.getByRole('button', { name: 'Add tier' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill('cold');
    await dialog().getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Coffer or MinIO' }).click();
    await dialog().getByLabel('Address').fill(`${other.s3}/`);
    await dialog().getByLabel('Bucket there').fill('absent');
    await dialog().getByLabel('Prefix', { exact: true }).fill('here');
    await dialog().getByLabel('Access key').fill(other.accessKey);
    await dialog().getByLabel('Secret key', { exact: true }).fill(other.secretKey);
    await dialog().getByRole('button', { name: 'Add tier' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Bucket there').fill('cold');
    await dialog().getByRole('button', { name: 'Add tier' }).click();
    await row('COLD').getByText(`${other.s3}/cold/here`).waitFor();
    await visitor.picture('tiers');
    expect(await asRoot('GET', 'tier')).toMatchObject([{ Name: 'COLD', MinIO: { Bucket: 'cold', Prefix: 'here' } }]);

    await chooseIn('COLD', 'Check');
    await page.getByText('The tier COLD takes all calls.').waitFor();
    await chooseIn('COLD', 'Change keys…');
    await dialog().getByLabel('Secret key', { exact: true }).fill('not the secret');
    await dialog().getByRole('button', { name: 'Change keys' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Secret key', { exact: true }).fill(other.secretKey);
    await dialog().getByRole('button', { name: 'Change keys' }).click();
    await page.getByText('The tier COLD has new keys.').waitFor();

    await s3.send(new CreateBucketCommand({ Bucket: 'moving' }));
    await page.goto(`${server.console}/buckets/moving/settings`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await dialog().getByLabel('Move objects after', { exact: true }).fill('9');
    await dialog().getByRole('combobox', { name: 'Move objects after: to the tier' }).click();
    await page.getByRole('option', { name: 'COLD' }).click();
    await dialog().getByRole('button', { name: 'Save rule' }).click();
    // The dialog shows the same sentence before the rule is stored.
    await dialog().waitFor({ state: 'hidden' });
    await page.getByText('Objects move to the tier COLD 9 days after they were stored.').waitFor();
    const { Rules } = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: 'moving' }));
    expect(Rules).toMatchObject([{ Transitions: [{ Days: 9, StorageClass: 'COLD' }] }]);
    await open('Tiers');

    await chooseIn('COLD', 'Remove…');
    await dialog().getByRole('button', { name: 'Remove tier' }).click();
    await dialog().getByRole('alert').getByText('The lifecycle of the bucket moving names the tier COLD.').waitFor();
    await s3.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: 'moving',
        LifecycleConfiguration: {
          Rules: [{ ID: 'all', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 9 } }],
        },
      }),
    );
    await dialog().getByRole('button', { name: 'Remove tier' }).click();
    await page.getByRole('heading', { name: 'No tiers' }).waitFor();
    await expect.poll(() => asRoot('GET', 'tier'), patient).toEqual([]);
  });
});
