import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClientDriver } from '../cli/client-driver.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type CutLink, startCutLink } from '../support/server/cut-link.ts';
import { type SharedAccess, sharedServer } from '../support/server/shared-server.ts';
import { replicate, sideOf, versionedBucket } from './replicated-buckets.ts';

const client = new ClientDriver();
const wait = { timeout: 180_000, interval: 100 };
const Bucket = 'commands';
let left: SharedAccess;
let here: S3Client;
let link: CutLink;
let arn: string;

beforeAll(async () => {
  const right = await sharedServer('right');
  left = await sharedServer('left');
  here = s3Client(left);
  link = await startCutLink(right.s3);
  await client.start(() => Promise.resolve({ ...left, url: left.s3, stop: () => link.close() }));
  await Promise.all([versionedBucket(here, Bucket), versionedBucket(s3Client(right), Bucket)]);
  await here.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'text' }));
  arn = await replicate(sideOf(left), Bucket, { ...right, s3: link.url });
}, 60_000);

afterAll(() => client.stop());

async function resync(verb: string, ...more: readonly string[]) {
  const ofBucket = ['replicate', 'resync', verb, `s/${Bucket}`, '--remote-bucket', arn];
  const { code, stdout, stderr } = await client.attempt(...ofBucket, ...more);
  return { code, stdout: String(stdout), stderr };
}

const status = async () => (await resync('status')).stdout;

it('starts for what is older, says how far it is, and ends by cancel', { timeout: 240_000 }, async () => {
  expect(await resync('cancel')).toMatchObject({ code: 1, stderr: expect.stringContaining('No resync') as string });
  expect(await resync('start', '--older-than', 'soon')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Invalid --older-than `soon`') as string,
  });
  // The object is younger.
  expect(await resync('start', '--older-than', '1h')).toMatchObject({ code: 0 });
  await expect.poll(status, wait).toMatch(/Completed/);
  expect(await status()).toMatch(/replicationCount\W+0/);
  link.cut();
  expect(await resync('start')).toMatchObject({ code: 0 });
  await expect.poll(status, wait).toMatch(/Ongoing/);
  expect(await resync('cancel')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`No more of s/${Bucket}`) as string,
  });
  expect(await status()).toMatch(/Canceled/);
});
