import {
  CreateBucketCommand,
  GetBucketPolicyCommand,
  GetObjectRetentionCommand,
  PutBucketEncryptionCommand,
  GetBucketEncryptionCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { adminCall } from '../../support/server/admin-call.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../../support/server/shared-server.ts';
import { startSession } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: SharedAccess;
let page: Page;
let s3: S3Client;
/** The calls of the page that change something. */
let sent: string[];

visitEachTest({
  server: () => sharedServer('console'),
  // The time of the user is 11 hours behind UTC: the evening is the next day in UTC.
  visitor: { zone: 'Pacific/Pago_Pago' },
  ready(found) {
    server = found;
    s3 = s3Client(found);
  },
  async begin(one) {
    page = one.page;
    await startSession(page, server);
    sent = [];
    page.on('request', (request) => {
      if (!['GET', 'HEAD'].includes(request.method())) sent.push(`${request.method()} ${request.url()}`);
    });
  },
});

const section = (name: string) => page.getByRole('region', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const settings = (bucket: string) => page.goto(`${server.console}/buckets/${bucket}/settings`);

async function document(method: string, bucket: string, subresource: string, body?: string): Promise<string> {
  const answer = await adminCall(server.s3, server, method, `/${bucket}?${subresource}=`, body && Buffer.from(body));
  return String(answer.value);
}

describe('a lifecycle with what the form does not know', () => {
  const keeping =
    '<Rule><ID>keep</ID><Filter><Prefix>docs/</Prefix></Filter><Status>Enabled</Status><NoncurrentVersionExpiration>' +
    '<NewerNoncurrentVersions>3</NewerNoncurrentVersions></NoncurrentVersionExpiration></Rule>';
  const tagged =
    '<Rule><ID>tagged</ID><Filter><And><Prefix>tmp/</Prefix><Tag><Key>team</Key><Value>red</Value></Tag></And></Filter>' +
    '<Status>Enabled</Status><Expiration><Date>2099-01-01T00:00:00Z</Date></Expiration></Rule>';

  it('is shown, kept where nothing is changed, and changed in one field', async () => {
    const bucket = 'kept-lifecycle';
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    await document('PUT', bucket, 'lifecycle', `<LifecycleConfiguration>${keeping}${tagged}</LifecycleConfiguration>`);
    const before = await document('GET', bucket, 'lifecycle');
    await settings(bucket);
    await section('Lifecycle')
      .getByText('Old versions are removed as soon as they were replaced, except the newest 3 of each key.')
      .waitFor();
    // Midnight of UTC is the afternoon of the day before.
    await section('Lifecycle')
      .getByText(/Objects are deleted at this time: .*31 December 2098/)
      .waitFor();

    await page.getByRole('button', { name: 'Edit the rule tagged' }).click();
    await dialog().getByText('2 fields that this form does not edit and keeps:').waitFor();
    await dialog().getByText('Filter/And/Tag: team, red').waitFor();
    await page.getByRole('button', { name: 'Save rule' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(sent).toEqual([]);

    await page.getByRole('button', { name: 'Edit the rule tagged' }).click();
    await dialog().getByLabel('Keys that begin with').fill('temporary/');
    await page.getByRole('button', { name: 'Save rule' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(sent).toHaveLength(1);
    expect(await document('GET', bucket, 'lifecycle')).toBe(
      before.replace('<Prefix>tmp/</Prefix>', '<Prefix>temporary/</Prefix>'),
    );
  });
});

describe('a retention in mode COMPLIANCE', () => {
  it('is not extended by Save without a change, and asks once more with the moment in words', async () => {
    const [Bucket, Key] = ['kept-retention', 'a.txt'];
    await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'a' }));
    // In the zone of the user it is the evening of the day before.
    const RetainUntilDate = new Date(Date.now() + 2 * 86_400_000);
    RetainUntilDate.setUTCHours(5, 30, 15, 250);
    await s3.send(new PutObjectRetentionCommand({ Bucket, Key, Retention: { Mode: 'COMPLIANCE', RetainUntilDate } }));
    const until = async () =>
      (await s3.send(new GetObjectRetentionCommand({ Bucket, Key }))).Retention?.RetainUntilDate?.toISOString();
    const before = await until();
    await page.goto(`${server.console}/buckets/${Bucket}?object=${Key}`);
    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.getByRole('button', { name: 'Edit retention' }).click();
    const local = new Date(RetainUntilDate.getTime() - 11 * 3_600_000).toISOString().slice(0, 19);
    expect(await page.getByLabel('Until').inputValue()).toBe(local);
    await section('Retention').getByRole('button', { name: 'Save' }).click();
    await section('Retention').getByRole('button', { name: 'Edit retention' }).waitFor();
    expect(sent).toEqual([]);
    expect(await until()).toBe(before);

    await page.getByRole('button', { name: 'Edit retention' }).click();
    await page.getByLabel('Until').fill('2098-12-31T18:00:00');
    await section('Retention').getByRole('button', { name: 'Save' }).click();
    await dialog()
      .getByText(/not even an administrator: .*31 December 2098 at 18:00:00/)
      .waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    expect(await until()).toBe(before);
    await section('Retention').getByRole('button', { name: 'Cancel' }).click();
    expect(sent).toEqual([]);
  });
});

describe('access without an account', () => {
  it('keeps the Id, the version and the other statements of a policy of 2008', async () => {
    const Bucket = 'kept-policy';
    await s3.send(new CreateBucketCommand({ Bucket }));
    const other = {
      Sid: 'Literal',
      Effect: 'Allow',
      Principal: { AWS: 'arn:aws:iam:::user/ann' },
      Action: 's3:GetObject',
      Resource: `arn:aws:s3:::${Bucket}/\${aws:username}/*`,
    };
    const Policy = JSON.stringify({ Id: 'since 2009', Version: '2008-10-17', Statement: other });
    await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    await settings(Bucket);
    await section('Access without an account').getByRole('radio', { name: 'Read', exact: true }).click();
    await page.getByText('The access without an account is saved.').waitFor();
    const stored = JSON.parse((await s3.send(new GetBucketPolicyCommand({ Bucket }))).Policy ?? '') as {
      readonly Statement: readonly object[];
    };
    expect(stored).toMatchObject({ Id: 'since 2009', Version: '2008-10-17' });
    expect(stored.Statement).toHaveLength(3);
    expect(stored.Statement[0]).toEqual(other);
  });
});

describe('a default encryption', () => {
  it('keeps its bucket key, which the form shows', async () => {
    const Bucket = 'kept-encryption';
    await s3.send(new CreateBucketCommand({ Bucket }));
    await s3.send(
      new PutBucketEncryptionCommand({
        Bucket,
        ServerSideEncryptionConfiguration: {
          Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' }, BucketKeyEnabled: true }],
        },
      }),
    );
    const rule = async () =>
      (await s3.send(new GetBucketEncryptionCommand({ Bucket }))).ServerSideEncryptionConfiguration?.Rules?.[0];
    await settings(Bucket);
    await page.getByRole('button', { name: 'Edit the default encryption' }).click();
    await dialog().getByText('BucketKeyEnabled: true').waitFor();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(sent).toEqual([]);

    await page.getByRole('button', { name: 'Edit the default encryption' }).click();
    await dialog().getByRole('radio', { name: 'SSE-KMS' }).click();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(await rule()).toMatchObject({
      ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms' },
      BucketKeyEnabled: true,
    });
  });
});
