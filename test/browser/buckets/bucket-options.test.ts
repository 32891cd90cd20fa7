import { CreateBucketCommand, GetBucketEncryptionCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { adminCall } from '../../support/server/admin-call.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../../support/server/shared-server.ts';
import type { Visitor } from '../open-browser.ts';
import { signIn } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

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
    await signIn(page, server);
  },
});

describe('a new bucket', () => {
  it('has the quota and the key of its form', async () => {
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create bucket' }).first().click();
    await dialog.getByLabel('Name', { exact: true }).fill('limited');
    await dialog.getByLabel('SSE-KMS').check();
    await dialog.getByRole('combobox', { name: 'Key name' }).click();
    await page.getByRole('option', { name: 'own-key' }).click();
    await dialog.getByLabel('Quota').fill('3');
    await visitor.picture('new-bucket');
    await dialog.getByRole('button', { name: 'Create bucket' }).click();
    await page.getByRole('heading', { name: 'limited' }).waitFor();
    const quota = await adminCall(server.s3, server, 'GET', 'get-bucket-quota?bucket=limited');
    expect(quota.value).toMatchObject({ quota: 3 * 1024 ** 3 });
    const { ServerSideEncryptionConfiguration } = await s3.send(new GetBucketEncryptionCommand({ Bucket: 'limited' }));
    expect(ServerSideEncryptionConfiguration?.Rules).toMatchObject([
      {
        ApplyServerSideEncryptionByDefault: {
          SSEAlgorithm: 'aws:kms',
          KMSMasterKeyID: expect.stringContaining('own-key') as string,
        },
      },
    ]);
    await page.goto(`${server.console}/buckets/limited/settings`);
    await page.getByRole('region', { name: 'Quota' }).getByText('3.0 GiB').waitFor();
  });
});

describe('a bucket whose name is taken', () => {
  it('is told so in the form, with what to do', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'taken-name' }));
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create bucket' }).first().click();
    await dialog.getByLabel('Name', { exact: true }).fill('taken-name');
    await dialog.getByRole('button', { name: 'Create bucket' }).click();
    await dialog.getByRole('alert').getByText('A bucket named taken-name is there already.').waitFor();
  });
});

describe('an object', () => {
  it('is copied as a command of curl with a link, which works', async () => {
    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await s3.send(new CreateBucketCommand({ Bucket: 'linked' }));
    await s3.send(new PutObjectCommand({ Bucket: 'linked', Key: "it's [a] name.txt", Body: 'content' }));
    await page.goto(`${server.console}/buckets/linked?object=${encodeURIComponent("it's [a] name.txt")}`);
    await page.getByRole('button', { name: 'Copy as' }).click();
    await page.getByRole('menuitem', { name: 'curl, for an hour' }).click();
    await page.getByText('Copied: curl, for an hour').waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(command).toMatch(/^curl -gfOJ 'http.*X-Amz-Expires=3600/);
    const url = /^curl -gfOJ '(.*)'$/.exec(command)?.[1] ?? '';
    expect(await (await fetch(url)).text()).toBe('content');
  });
});
