import {
  CreateBucketCommand,
  GetObjectCommand,
  PutBucketEncryptionCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { startKeyService, type KeyService } from '../support/server/keysvc-process.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import { signIn, startSession } from './sign-in.ts';
import { visitEachTest } from './visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const patient = { timeout: 180_000 };
/** Nothing listens there. */
const closedEndpoint = 'https://127.0.0.1:1';

let folder: string;
let keyService: KeyService;
let server: RunningServer;
let s3: S3Client;
let page: Page;

async function asRoot<Value>(method: string, call: string, body?: unknown): Promise<Value> {
  const { status, value } = await adminCall(server.s3, server, method, call, body);
  expect([200, 204], JSON.stringify(value)).toContain(status);
  return value as Value;
}

const versionsOf = async (name: string) =>
  (await asRoot<{ versions: string[] }>('GET', `/minio/admin/coffer/v1/kms/key/describe?key-id=${name}`)).versions;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-keys-'));
  keyService = await startKeyService(folder);
});

afterAll(async () => {
  await keyService?.stop();
  await rm(folder, { recursive: true, force: true });
});

visitEachTest({
  server() {
    const endpoints = `${keyService.env['SVC_KMS_KEYSVC_ENDPOINT']},${closedEndpoint}`;
    return startServer({ console: true, env: { ...keyService.env, SVC_KMS_KEYSVC_ENDPOINT: endpoints } });
  },
  async ready(started) {
    server = started;
    s3 = s3Client(server);
    await asRoot('POST', 'kms/key/create?key-id=photos-key');
    await s3.send(new CreateBucketCommand({ Bucket: 'photos' }));
    await s3.send(
      new PutBucketEncryptionCommand({
        Bucket: 'photos',
        ServerSideEncryptionConfiguration: {
          Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: 'photos-key' } }],
        },
      }),
    );
    await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'a.txt', Body: 'content' }));
  },
  begin(one) {
    page = one.page;
  },
});

const dialog = () => page.getByRole('dialog');
const row = (text: string) => page.getByRole('row').filter({ hasText: text });

async function openKeys(): Promise<void> {
  await signIn(page, server);
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await row('photos-key').waitFor();
}

async function chooseIn(name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

describe('the page of the keys', () => {
  it('shows the state of each endpoint of the key service', async () => {
    await openKeys();
    await row(String(keyService.env['SVC_KMS_KEYSVC_ENDPOINT'])).getByText('online').waitFor();
    await row(closedEndpoint).getByText('offline').waitFor();
  });

  it('says what each key encrypts', async () => {
    await openKeys();
    await page.getByRole('button', { name: 'Count what they encrypt' }).click();
    await row('photos-key').getByText('1 object, default of photos').waitFor();
    await row('main-key').getByText('identities and settings').waitFor();
  });

  it('describes a key with its versions, and the new one after a rotation, which its objects get', async () => {
    await openKeys();
    const [first = ''] = await versionsOf('photos-key');
    await chooseIn('photos-key', 'Details…');
    await dialog().getByText('Algorithm').waitFor();
    await dialog().getByText('Created by').waitFor();
    expect(await dialog().getByText('encrypts now').count()).toBe(first === '' ? 0 : 1);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });

    await chooseIn('photos-key', 'Rotate…');
    await dialog().getByRole('button', { name: 'Rotate', exact: true }).click();
    await dialog().waitFor({ state: 'detached' });
    await expect.poll(async () => (await versionsOf('photos-key')).length, patient).toBe(2);
    await page.getByText('1 got the new key, 0 failed').waitFor();
    // The second pass comes minutes later, when no server uses a data key of the earlier version any more. The rotation is not shown as
    // in progress until then.
    await page.getByText('a second pass finds what they wrote').waitFor();
    expect(await page.getByText('Rotation in progress').count()).toBe(0);
    expect(await page.getByLabel('The rotation is in progress').count()).toBe(0);
    const read = await s3.send(new GetObjectCommand({ Bucket: 'photos', Key: 'a.txt' }));
    expect(await read.Body?.transformToString()).toBe('content');

    await chooseIn('photos-key', 'Details…');
    const [, second = ''] = await versionsOf('photos-key');
    await dialog().getByText(second, { exact: true }).waitFor();
    const shown = await dialog().innerText();
    // The newest version comes first, and is the one that encrypts.
    expect(shown.indexOf(second)).toBeLessThan(shown.indexOf(first));
    expect(shown.indexOf('encrypts now')).toBeLessThan(shown.indexOf(first));
    expect(await dialog().getByText('encrypts now').count()).toBe(1);
  });

  it('offers what the policies of the user allow on each key', async () => {
    const document = {
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Action: ['kms:Status', 'kms:ListKeys'] },
        { Effect: 'Allow', Action: ['kms:KeyStatus', 'kms:RotateKey'], Resource: 'arn:minio:kms:::photos-*' },
      ],
    };
    await asRoot('PUT', 'add-canned-policy?name=photos-keys', Buffer.from(JSON.stringify(document)));
    await asRoot('PUT', 'add-user?accessKey=ann', { secretKey: 'ann-secret', status: 'enabled' });
    await asRoot('POST', 'idp/builtin/policy/attach', { policies: ['photos-keys'], user: 'ann' });
    await startSession(page, server, 'ann', 'ann-secret');
    await page.goto(`${server.console}/keys`);
    await row('photos-key').waitFor();
    for (const name of ['Create key', 'Import key']) expect(await page.getByRole('button', { name }).count()).toBe(0);
    const items = page.getByRole('menuitem');
    await page.getByRole('button', { name: 'Actions for photos-key', exact: true }).click();
    await expect.poll(() => items.allInnerTexts()).toEqual(['Details…', 'Test', 'Rotate…']);
    await items.filter({ hasText: 'Rotate' }).click();
    // No other key may replace it.
    await dialog().getByText('The key gets a new version').waitFor();
    expect(await dialog().getByLabel('New key', { exact: true }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Actions for main-key', exact: true }).click();
    await page.getByText('Your policies allow nothing more here').waitFor();
    expect(await items.count()).toBe(0);
  });
});
