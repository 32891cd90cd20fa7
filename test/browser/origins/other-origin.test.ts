import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketCorsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { signedFields } from '../../support/s3-api/post-forms.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../../support/server/shared-server.ts';
import { startServer, untilReady, type RunningServer } from '../../support/server/start-server.ts';
import { endVisit, leaveBrowser, newVisitor, openBrowser, type Visitor } from '../open-browser.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let server: SharedAccess;
let strict: RunningServer;
let browser: Browser;
let pages: Server;
let visitor: Visitor | undefined;
let s3: S3Client;
/** The origin that the bucket `ruled` allows, and one that it does not. */
let allowed: string;
let other: string;

/** The pages of two origins: one server under two names. */
async function servePages(): Promise<void> {
  const bundle = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      lib: { entry: fileURLToPath(new URL('sdk-for-pages.ts', import.meta.url)), formats: ['iife'], name: 'sdk' },
    },
  });
  const [first] = Array.isArray(bundle) ? bundle : [bundle];
  const chunk = first !== undefined && 'output' in first ? first.output[0] : undefined;
  if (chunk === undefined) throw new Error('the SDK was not bundled');
  pages = createServer((request, response) => {
    if (request.url === '/sdk.js') {
      response.setHeader('content-type', 'text/javascript');
      response.end(chunk.code);
      return;
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<!doctype html><title>page</title><body><script src="/sdk.js"></script></body>');
  });
  await new Promise<void>((resolve) => {
    pages.listen(0, '127.0.0.1', resolve);
  });
  const { port } = pages.address() as AddressInfo;
  allowed = `http://127.0.0.1:${port}`;
  other = `http://localhost:${port}`;
}

beforeAll(async () => {
  await servePages();
  [server, strict] = await Promise.all([sharedServer(), startServer({ env: { SVC_API_CORS_ALLOW_ORIGIN: allowed } })]);
  await untilReady(strict);
  s3 = s3Client(server);
  for (const Bucket of ['ruled', 'plain']) await s3.send(new CreateBucketCommand({ Bucket }));
  await s3Client(strict).send(new CreateBucketCommand({ Bucket: 'plain' }));
  const rule = {
    AllowedOrigins: [allowed],
    AllowedMethods: ['GET', 'PUT', 'POST', 'HEAD', 'DELETE'],
    AllowedHeaders: ['*'],
    // The SDK reads both to complete an upload.
    ExposeHeaders: ['ETag', 'x-amz-checksum-crc32'],
    MaxAgeSeconds: 0,
  };
  await s3.send(new PutBucketCorsCommand({ Bucket: 'ruled', CORSConfiguration: { CORSRules: [rule] } }));
  browser = await openBrowser();
});

afterAll(async () => {
  await leaveBrowser(browser);
  await strict?.stop();
  await new Promise((resolve) => {
    pages?.close(resolve);
  });
});

afterEach(async () => {
  if (visitor !== undefined) await endVisit(visitor);
  visitor = undefined;
});

async function pageOf(origin: string): Promise<Page> {
  visitor = await newVisitor(browser);
  await visitor.page.goto(origin);
  return visitor.page;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly etag: string | null;
  readonly redirected: boolean;
}

/** What a script of the page gets: an answer, or the error of the browser, which says nothing of the answer. */
function fetchIn(
  page: Page,
  url: string,
  init: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
): Promise<Answer | string> {
  return page.evaluate(
    async ([address, options]) => {
      try {
        const response = await fetch(address, options);
        const { status, redirected, headers } = response;
        return { status, redirected, text: await response.text(), etag: headers.get('etag') };
      } catch (error) {
        return String(error);
      }
    },
    [url, init] as const,
  );
}

const rejected = 'TypeError: Failed to fetch';
const put = (Bucket: string, Key: string) =>
  getSignedUrl(s3, new PutObjectCommand({ Bucket, Key, ContentType: 'text/plain' }), { expiresIn: 600 });
const get = (Bucket: string, Key: string) =>
  getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }), { expiresIn: 600 });
const exists = (Bucket: string, Key: string) =>
  s3.send(new HeadObjectCommand({ Bucket, Key })).then(
    () => true,
    () => false,
  );
const upload = { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'from a page' };

describe('a page on an origin that the bucket allows', () => {
  it('puts and gets by presigned URLs', async () => {
    const page = await pageOf(allowed);
    expect(await fetchIn(page, await put('ruled', 'put'), upload)).toMatchObject({
      status: 200,
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) as string,
    });
    expect(await fetchIn(page, await get('ruled', 'put'))).toMatchObject({ status: 200, text: 'from a page' });
  });

  it('reads the errors', async () => {
    const page = await pageOf(allowed);
    const missing = await fetchIn(page, await get('ruled', 'missing'));
    expect(missing).toMatchObject({ status: 404, text: expect.stringContaining('<Code>NoSuchKey</Code>') as string });
    const unsigned = await fetchIn(page, `${server.s3}/ruled/put`);
    expect(unsigned).toMatchObject({ status: 403, text: expect.stringContaining('AccessDenied') as string });
  });

  it('uploads 12 MiB in parts by the AWS SDK', async () => {
    expect(await uploadBySdk(await pageOf(allowed), 'parts')).toMatch(/^"[0-9a-f]{32}-3"$/);
    const { ContentLength } = await s3.send(new HeadObjectCommand({ Bucket: 'ruled', Key: 'parts' }));
    expect(ContentLength).toBe(12 * 1024 * 1024);
  });

  it('uploads by a form of a script', async () => {
    const answer = await postForm(await pageOf(allowed), 'form-script');
    expect(answer).toMatchObject({ status: 201, text: expect.stringContaining('<Key>form-script</Key>') as string });
  });

  it('uploads by a form that a visitor submits, and gets the visitor back', async () => {
    const page = await pageOf(allowed);
    const fields = formFields('visitor/${filename}', {
      success_action_redirect: `${allowed}/done`,
      'Content-Type': 'text/plain',
    });
    await page.setContent(
      `<form action="${server.s3}/ruled" method="post" enctype="multipart/form-data">` +
        Object.entries(fields)
          .map(([name, value]) => `<input type="hidden" name="${name}" value='${value}'>`)
          .join('') +
        '<input type="file" name="file"><input type="submit" name="submit" value="Upload"></form>',
    );
    await page.locator('input[type=file]').setInputFiles({
      name: 'blé "a".txt',
      mimeType: 'text/plain',
      buffer: Buffer.alloc(300_000, 'a'),
    });
    await page.locator('input[type=submit]').click();
    await page.waitForURL(`${allowed}/done?**`);
    const key = new URL(page.url()).searchParams.get('key');
    const { ContentLength, ContentType } = await s3.send(new HeadObjectCommand({ Bucket: 'ruled', Key: key ?? '' }));
    expect([key?.startsWith('visitor/blé '), ContentLength, ContentType]).toEqual([true, 300_000, 'text/plain']);
  });
});

describe('a page on another origin', () => {
  it('puts and gets nothing by presigned URLs', async () => {
    const page = await pageOf(other);
    expect(await fetchIn(page, await put('ruled', 'refused'), upload)).toBe(rejected);
    expect(await exists('ruled', 'refused')).toBe(false);
    await s3.send(new PutObjectCommand({ Bucket: 'ruled', Key: 'secret', Body: 'secret' }));
    expect(await fetchIn(page, await get('ruled', 'secret'))).toBe(rejected);
  });

  it('uploads no parts by the AWS SDK', async () => {
    expect(await uploadBySdk(await pageOf(other), 'refused-parts')).toContain('Failed to fetch');
    expect(await exists('ruled', 'refused-parts')).toBe(false);
  });

  it('does not learn the answer to a form', async () => {
    expect(await postForm(await pageOf(other), 'form-other')).toBe(rejected);
  });

  it('may use a bucket without a configuration, by default', async () => {
    const page = await pageOf(other);
    expect(await fetchIn(page, await put('plain', 'a'), upload)).toMatchObject({ status: 200 });
    expect(await fetchIn(page, await get('plain', 'a'))).toMatchObject({ status: 200, text: 'from a page' });
  });

  it('reads the answers of STS, by default', async () => {
    const answer = await fetchIn(await pageOf(other), `${server.s3}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'Action=AssumeRoleWithWebIdentity&Version=2011-06-15&WebIdentityToken=none',
    });
    expect(answer).toMatchObject({ text: expect.stringContaining('ErrorResponse') as string });
  });
});

describe('the setting of the server', () => {
  it('allows its origins alone', async () => {
    const client = s3Client(strict);
    const url = () =>
      getSignedUrl(client, new PutObjectCommand({ Bucket: 'plain', Key: 'a', ContentType: 'text/plain' }));
    expect(await fetchIn(await pageOf(allowed), await url(), upload)).toMatchObject({ status: 200 });
    expect(await fetchIn(await pageOf(other), await url(), upload)).toBe(rejected);
  });
});

/** The ETag of the upload, or the error. */
function uploadBySdk(page: Page, key: string): Promise<string> {
  const { accessKey, secretKey } = server;
  return page.evaluate(
    async ({ endpoint, Key, accessKeyId, secretAccessKey }) => {
      interface Sdk {
        readonly S3Client: new (options: object) => object;
        readonly Upload: new (options: object) => { done(): Promise<{ readonly ETag?: string }> };
      }
      const sdk = globalThis as unknown as Sdk;
      const client = new sdk.S3Client({
        endpoint,
        region: 'us-east-1',
        forcePathStyle: true,
        maxAttempts: 1,
        credentials: { accessKeyId, secretAccessKey },
      });
      const params = { Bucket: 'ruled', Key, Body: new Blob([new Uint8Array(12 * 1024 * 1024)]) };
      try {
        const { ETag } = await new sdk.Upload({ client, params, partSize: 5 * 1024 * 1024 }).done();
        return ETag ?? 'no ETag';
      } catch (error) {
        return String(error);
      }
    },
    { endpoint: server.s3, Key: key, accessKeyId: accessKey, secretAccessKey: secretKey },
  );
}

function formFields(key: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const prefix = key.replace('${filename}', '');
  return signedFields({ key, ...more }, server, { bucket: 'ruled', conditions: [['starts-with', '$key', prefix]] });
}

function postForm(page: Page, key: string): Promise<Answer | string> {
  return page.evaluate(
    async ([address, fields]) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      form.append('file', new Blob(['from a form']), 'a.txt');
      try {
        const response = await fetch(address, { method: 'POST', body: form });
        const { status, redirected, headers } = response;
        return { status, redirected, text: await response.text(), etag: headers.get('etag') };
      } catch (error) {
        return String(error);
      }
    },
    [`${server.s3}/ruled`, formFields(key, { success_action_status: '201' })] as const,
  );
}
