import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  PutBucketPolicyCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  type WebsiteConfiguration,
} from '@aws-sdk/client-s3';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeCa } from '../../../platform/tls/issue-certificate.ts';
import { issue, writePair } from '../../support/server/keysvc-process.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../../support/server/start-server.ts';
import { leaveBrowser, openBrowser } from '../open-browser.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 });

const Bucket = 'site';
const WebsiteConfiguration: WebsiteConfiguration = {
  IndexDocument: { Suffix: 'index.html' },
  ErrorDocument: { Key: 'error.html' },
  RoutingRules: [{ Condition: { KeyPrefixEquals: 'old/' }, Redirect: { ReplaceKeyPrefixWith: 'docs/' } }],
};
const env = { SVC_WEBSITE_ADDRESS: '127.0.0.1:0' };

let folder: string;
let server: RunningServer;
let browser: Browser;
let page: Page;
let origin: string;

async function fill(plain: RunningServer): Promise<void> {
  const s3 = s3Client(plain);
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));
  const Resource = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`];
  const statement = { Effect: 'Allow', Principal: '*', Action: ['s3:GetObject', 's3:ListBucket'], Resource };
  await s3.send(
    new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }) }),
  );
  for (const [Key, Body, ContentType, WebsiteRedirectLocation] of [
    ['index.html', '<title>home</title><link rel=stylesheet href=style.css><a href=docs>docs</a>', 'text/html'],
    ['style.css', 'body { color: rgb(1, 2, 3) }', 'text/css'],
    ['docs/index.html', '<title>documents</title><a href=page.html>page</a>', 'text/html'],
    ['docs/page.html', '<title>page</title>', 'text/html'],
    ['error.html', '<title>sorry</title>', 'text/html'],
    ['moved', '', 'text/html', '/docs/page.html'],
  ] as const) {
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from(Body), ContentType, WebsiteRedirectLocation }));
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-browser-website-'));
  const ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  const { certFile, keyFile } = await writePair(folder, 'site', await issue(ca, 'site.localhost'));
  await copyFile(keyFile, join(folder, 'private.key'));
  await copyFile(certFile, join(folder, 'public.crt'));
  const data = join(folder, 'data');
  const plain = await startServer({ env, folder: data });
  await untilReady(plain);
  await fill(plain);
  await plain.stop();
  server = await startServer({ env, folder: data, args: ['--certs-dir', folder] });
  await server.untilLogged('"event":"ready"');
  const { websites } = JSON.parse(await server.untilLogged('"event":"listening"')) as { websites: string };
  // Browsers resolve the names below localhost themselves.
  origin = websites.replace('127.0.0.1', `${Bucket}.localhost`);
  browser = await openBrowser();
  page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
});
afterAll(async () => {
  await leaveBrowser(browser);
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function visit(path: string) {
  const answer = await page.goto(`${origin}${path}`);
  return [answer?.status(), await page.title(), page.url().replace(origin, '')];
}

describe('a website over TLS', () => {
  it('shows its index with what belongs to it, and leads on by relative links', async () => {
    expect(await visit('/')).toEqual([200, 'home', '/']);
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(1, 2, 3)');
    await page.click('a');
    await page.waitForURL(`${origin}/docs/`);
    await page.click('a');
    await page.waitForURL(`${origin}/docs/page.html`);
    expect(await page.title()).toBe('page');
  });

  it.each([
    ['/absent', [404, 'sorry', '/absent']],
    ['/old/page.html', [200, 'page', '/docs/page.html']],
    ['/moved', [200, 'page', '/docs/page.html']],
    ['/docs', [200, 'documents', '/docs/']],
  ])('leads from %s to %j', async (path, expected) => {
    expect(await visit(path)).toEqual(expected);
  });

  it('answers a page that has its content already', async () => {
    const answer = await page.goto(`${origin}/docs/page.html`);
    const etag = answer?.headers()['etag'] ?? '';
    const headers = JSON.stringify({ 'if-none-match': etag });
    expect(await page.evaluate(`fetch(location.href, { headers: ${headers} }).then(({ status }) => status)`)).toBe(304);
  });
});
