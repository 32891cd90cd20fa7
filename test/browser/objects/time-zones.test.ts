import {
  CreateBucketCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, it, vi } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../../support/server/start-server.ts';
import { zones } from '../../support/time-zones.ts';
import { send, startSession } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const Bucket = 'zones';
const Key = 'locked';
let server: RunningServer;
let page: Page;
let s3: S3Client;
/** The calls of the page that change something. */
let sent: string[];
/** A moment at which the bucket has `locked`, and not yet `later`. */
let between: Date;

visitEachTest({
  server: () => startServer({ console: true }),
  async ready(found) {
    server = found;
    s3 = s3Client(found);
    await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'a' }));
    const { LastModified } = await s3.send(new HeadObjectCommand({ Bucket, Key }));
    // S3 tells times in seconds.
    between = new Date((LastModified?.getTime() ?? 0) + 1_000);
    await setTimeout(Math.max(0, between.getTime() + 100 - Date.now()));
    await s3.send(new PutObjectCommand({ Bucket, Key: 'later', Body: 'b' }));
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

/** Pages of one profile, so that a zone costs no other one. */
async function setZone(timezoneId: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId });
}

/** The value of a field for a moment, by the clock of the zone: `2026-01-31T15:04:05`. */
function clock(moment: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return format.format(moment).replace(' ', 'T');
}

/** The moment in words, without the name of its zone. */
function words(moment: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'medium' }).format(moment);
}

const section = (name: string) => page.getByRole('region', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const valueOf = (label: string) => page.getByLabel(label).inputValue();

// Around midnight of UTC, most zones have another day.
const lockedUntil = new Date('2090-06-30T23:30:15.250Z');
const extended = new Date('2098-12-31T00:20:45.000Z');

const lockEnd = async () => (await s3.send(new GetObjectRetentionCommand({ Bucket, Key }))).Retention?.RetainUntilDate;

/** Save without a change leaves the lock alone, and a typed time is one of the user. */
async function checkLock(zone: string): Promise<void> {
  const retention = section('Retention');
  await page.getByRole('tab', { name: 'Properties' }).click();
  await retention.getByText(words(lockedUntil, zone)).waitFor();
  await retention.getByRole('button', { name: 'Edit retention' }).click();
  expect(await valueOf('Until')).toBe(clock(lockedUntil, zone));
  await retention.getByText(words(lockedUntil, zone)).waitFor();
  await retention.getByRole('button', { name: 'Save' }).click();
  await retention.getByRole('button', { name: 'Edit retention' }).waitFor();
  expect(sent).toEqual([]);
  expect(await lockEnd()).toEqual(lockedUntil);

  await retention.getByRole('button', { name: 'Edit retention' }).click();
  await page.getByLabel('Until').fill(clock(extended, zone));
  await retention.getByText(words(extended, zone)).waitFor();
  await retention.getByRole('button', { name: 'Save' }).click();
  await retention.getByText(words(extended, zone)).waitFor();
  await retention.getByRole('button', { name: 'Edit retention' }).waitFor();
  expect(await lockEnd()).toEqual(extended);
}

/** The link ends at the moment that the dialog tells. */
async function checkShare(zone: string): Promise<void> {
  await page.getByRole('button', { name: 'Share…' }).click();
  await dialog().getByRole('img', { name: 'QR code of the link' }).waitFor();
  const { searchParams } = new URL(await dialog().getByLabel('Link', { exact: true }).inputValue());
  const [, day = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(searchParams.get('X-Amz-Date') ?? '') ?? [];
  const begin = `${day.replace(/^(....)(..)/, '$1-$2-')}T${time.replace(/^(..)(..)/, '$1:$2:')}Z`;
  const end = new Date(Date.parse(begin) + Number(searchParams.get('X-Amz-Expires')) * 1_000);
  expect(await dialog().locator('time').innerText()).toContain(words(end, zone));
  await dialog().getByRole('button', { name: 'Close', exact: true }).last().click();
  await dialog().waitFor({ state: 'detached' });
}

/** The moment of the page is that of the clock of the user. */
async function checkRewind(zone: string): Promise<void> {
  await page.getByRole('button', { name: 'Rewind' }).click();
  const field = page.getByLabel('Show the folder as it was at');
  const at = () => new Date(new URL(page.url()).searchParams.get('at') ?? '');
  await expect.poll(at).not.toEqual(new Date(NaN));
  // Chromium leaves seconds out that are zero.
  expect(await field.inputValue()).toBe(clock(at(), zone).replace(/(T..:..):00$/, '$1'));
  await field.fill(clock(between, zone));
  await expect.poll(at).toEqual(between);
  await page.getByRole('row').filter({ hasText: 'locked' }).first().waitFor();
  await page.getByRole('row').filter({ hasText: 'later' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Back to now' }).click();
  await page.getByRole('row').filter({ hasText: 'later' }).waitFor();
}

const keyUntil = new Date('2091-06-30T23:30:15.250Z');

/** Save without a change leaves the end of the key alone, and a typed time is one of the user. */
async function checkExpiry(zone: string): Promise<void> {
  const name = zone.replaceAll(/[^A-Za-z0-9]/g, '-');
  const headers = { 'x-coffer-console': '1' };
  const api = (path: string) => `${server.console}/api/${path}`;
  const { request } = page.context();
  await send(page, server, 'POST', 'access-keys', { name, expires: keyUntil.toISOString() });
  const { keys } = (await (await request.fetch(api(`access-keys?contains=${name}`), { headers })).json()) as {
    readonly keys: readonly { readonly accessKey: string; readonly name?: string }[];
  };
  const accessKey = keys.find((one) => one.name === name)?.accessKey ?? '';
  const expires = async () =>
    (
      (await (await request.fetch(api(`access-key?key=${accessKey}`), { headers })).json()) as {
        readonly expires: string;
      }
    ).expires;
  const before = await expires();
  await page.getByRole('link', { name: 'Access keys' }).click();
  const edit = async () => {
    await page.getByRole('button', { name: `Actions for ${accessKey}` }).click();
    await page.getByRole('menuitem', { name: 'Edit…' }).click();
  };
  sent = [];
  await edit();
  expect(await dialog().getByLabel('Expires').inputValue()).toBe(clock(new Date(before), zone));
  await dialog()
    .getByText(words(new Date(before), zone))
    .waitFor();
  await dialog().getByRole('button', { name: 'Save' }).click();
  await dialog().waitFor({ state: 'detached' });
  expect(sent).toEqual([]);

  await edit();
  await dialog().getByLabel('Expires').fill(clock(extended, zone));
  await dialog().getByText(words(extended, zone)).waitFor();
  await dialog().getByRole('button', { name: 'Save' }).click();
  await dialog().waitFor({ state: 'detached' });
  expect(new Date(await expires())).toEqual(extended);
  await page.context().request.fetch(api(`access-key?key=${accessKey}`), { method: 'DELETE', headers });
}

it.each(zones)(
  'the forms of a lock, a link, a rewind and an access key are in the time of the user: %s',
  async (zone) => {
    const Retention = { Mode: 'GOVERNANCE', RetainUntilDate: lockedUntil } as const;
    await s3.send(new PutObjectRetentionCommand({ Bucket, Key, Retention, BypassGovernanceRetention: true }));
    await setZone(zone);
    await page.goto(`${server.console}/buckets/${Bucket}?object=${Key}`);
    await checkShare(zone);
    await checkLock(zone);
    await checkRewind(zone);
    await checkExpiry(zone);
  },
);
