import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  CreateBucketCommand,
  GetBucketAccelerateConfigurationCommand,
  GetBucketRequestPaymentCommand,
  GetBucketWebsiteCommand,
  PutBucketAccelerateConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketRequestPaymentCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  type S3Client,
  type WebsiteConfiguration,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { issue, writePair } from '../support/server/keysvc-process.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

const run = promisify(execFile);
const Bucket = 'site';
const WebsiteConfiguration: WebsiteConfiguration = {
  IndexDocument: { Suffix: 'index.html' },
  ErrorDocument: { Key: 'error.html' },
  RoutingRules: [
    { Condition: { KeyPrefixEquals: 'old/' }, Redirect: { ReplaceKeyPrefixWith: 'docs/', HttpRedirectCode: '302' } },
  ],
};

let folder: string;
let plain: RunningServer;
let secure: RunningServer;
let s3: S3Client;

async function websitesOf(server: RunningServer): Promise<URL> {
  const { websites } = JSON.parse(await server.untilLogged('"event":"listening"')) as { websites: string };
  return new URL(websites);
}

/** The status, the location and the body that curl gets. `host` is the name by which it asks. */
async function curl(server: RunningServer, host: string, path: string, ...options: readonly string[]) {
  const { protocol, port } = await websitesOf(server);
  const resolve = `${host}:${port}:127.0.0.1`;
  const format = '\n%{http_code} %{redirect_url}';
  const url = `${protocol}//${host}:${port}${path}`;
  const args = ['--silent', '--insecure', '--path-as-is', '--resolve', resolve, '--write-out', format, ...options, url];
  const { stdout } = await run('curl', args);
  const [, body = '', status = '', location = ''] = /^([^]*)\n(\d{3}) (.*)$/.exec(stdout) ?? [];
  return { status: Number(status), location, body };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-website-'));
  const ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  const { certFile, keyFile } = await writePair(folder, 'site', await issue(ca, 'site'));
  await copyFile(keyFile, join(folder, 'private.key'));
  await copyFile(certFile, join(folder, 'public.crt'));
  const env = { SVC_WEBSITE_ADDRESS: '127.0.0.1:0', SVC_DOMAIN: 's3.example.com', SVC_THREADS: '2' };
  plain = await startServer({ env });
  await untilReady(plain);
  s3 = s3Client(plain);
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));
  const statement = { Effect: 'Allow', Principal: '*', Action: ['s3:GetObject', 's3:ListBucket'] };
  const Resource = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`];
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...statement, Resource }] });
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }));
  for (const [Key, Body, WebsiteRedirectLocation] of [
    ['index.html', 'home', undefined],
    ['docs/index.html', 'documents', undefined],
    ['error.html', 'sorry', undefined],
    ['moved', '', '/docs/'],
  ] as const) {
    await s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'text/html', WebsiteRedirectLocation }));
  }
  secure = await startServer({ env, args: ['--certs-dir', folder] });
}, 120_000);
afterAll(async () => {
  await Promise.all([plain?.stop(), secure?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

describe('a website', () => {
  const host = `${Bucket}.s3.example.com`;

  it.each([
    [host, '/', 200, 'home'],
    [host, '/docs/', 200, 'documents'],
    [Bucket, '/', 200, 'home'],
    [host, '/absent', 404, 'sorry'],
    ['127.0.0.1', `/${Bucket}/docs/`, 200, 'documents'],
  ])('answers curl at %s%s', async (name, path, status, body) => {
    expect(await curl(plain, name, path)).toEqual({ status, body, location: '' });
  });

  it.each([
    [host, '/docs', 302, '/docs/'],
    [host, '/old/a%20b', 302, '/docs/a%20b'],
    [host, '/moved', 301, '/docs/'],
    ['127.0.0.1', `/${Bucket}`, 302, `/${Bucket}/`],
  ])('redirects curl at %s%s', async (name, path, status, to) => {
    const { origin } = new URL((await websitesOf(plain)).href.replace('127.0.0.1', name));
    expect(await curl(plain, name, path)).toMatchObject({ status, location: `${origin}${to}` });
  });

  it('takes conditions and ranges, and no other methods', async () => {
    expect(await curl(plain, host, '/', '--range', '1-2')).toMatchObject({ status: 206, body: 'om' });
    expect(await curl(plain, host, '/', '--request', 'DELETE')).toMatchObject({ status: 405 });
    expect(await curl(plain, 'none.s3.example.com', '/')).toMatchObject({ status: 404 });
  });

  it('has the certificate of the S3 API', async () => {
    expect((await websitesOf(secure)).protocol).toBe('https:');
    await secure.untilLogged('"event":"ready"');
    const { status, body } = await curl(secure, 'none.s3.example.com', '/');
    expect({ status, body }).toMatchObject({ status: 404, body: expect.stringContaining('NoSuchBucket') as string });
  });

  it('has the configuration that was put', async () => {
    expect(await s3.send(new GetBucketWebsiteCommand({ Bucket }))).toMatchObject(WebsiteConfiguration);
  });
});

describe('request payment and acceleration', () => {
  it('are answered as they were put', async () => {
    expect(await s3.send(new GetBucketRequestPaymentCommand({ Bucket }))).toMatchObject({ Payer: 'BucketOwner' });
    expect((await s3.send(new GetBucketAccelerateConfigurationCommand({ Bucket }))).Status).toBeUndefined();
    const RequestPaymentConfiguration = { Payer: 'Requester' } as const;
    await s3.send(new PutBucketRequestPaymentCommand({ Bucket, RequestPaymentConfiguration }));
    const AccelerateConfiguration = { Status: 'Suspended' } as const;
    await s3.send(new PutBucketAccelerateConfigurationCommand({ Bucket, AccelerateConfiguration }));
    expect(await s3.send(new GetBucketRequestPaymentCommand({ Bucket }))).toMatchObject({ Payer: 'Requester' });
    expect(await s3.send(new GetBucketAccelerateConfigurationCommand({ Bucket }))).toMatchObject({
      Status: 'Suspended',
    });
  });
});
