import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
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
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer } from '../support/server/start-server.ts';

const run = promisify(execFile);
const Bucket = 'site';
const WebsiteConfiguration: WebsiteConfiguration = {
  IndexDocument: { Suffix: 'index.html' },
  ErrorDocument: { Key: 'error.html' },
  RoutingRules: [
    { Condition: { KeyPrefixEquals: 'old/' }, Redirect: { ReplaceKeyPrefixWith: 'docs/', HttpRedirectCode: '302' } },
    {
      Condition: { KeyPrefixEquals: 'archive/', HttpErrorCodeReturnedEquals: '404' },
      Redirect: {
        HostName: 'archive.example.com',
        Protocol: 'https',
        ReplaceKeyWith: 'search',
        HttpRedirectCode: '307',
      },
    },
  ],
};
const domain = 's3.example.com';

let folder: string;
let servers: Readonly<Record<'http' | 'https', RunningServer>>;
let s3: S3Client;

async function websitesOf(server: RunningServer): Promise<URL> {
  const { websites } = JSON.parse(await server.untilLogged('"event":"listening"')) as { websites: string };
  return new URL(websites);
}

/** The status, the location and the body that curl gets. `host` is the name by which it asks. */
async function curl(scheme: 'http' | 'https', host: string, path: string, ...options: readonly string[]) {
  const { protocol, port } = await websitesOf(servers[scheme]);
  const resolve = `${host}:${port}:127.0.0.1`;
  const format = '\n%{http_code} %{redirect_url}';
  const url = `${protocol}//${host}:${port}${path}`;
  const trust = ['--cacert', join(folder, 'ca.crt')];
  const args = ['--silent', ...trust, '--path-as-is', '--resolve', resolve, '--write-out', format, ...options, url];
  const { stdout } = await run('curl', args);
  const [, body = '', status = '', location = ''] = /^([^]*)\n(\d{3}) (.*)$/.exec(stdout) ?? [];
  return { status: Number(status), location, body };
}

async function fill(client: S3Client): Promise<void> {
  for (const name of [Bucket, 'moved-site']) await client.send(new CreateBucketCommand({ Bucket: name }));
  await client.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));
  const RedirectAllRequestsTo = { HostName: 'www.example.com', Protocol: 'https' } as const;
  await client.send(
    new PutBucketWebsiteCommand({ Bucket: 'moved-site', WebsiteConfiguration: { RedirectAllRequestsTo } }),
  );
  const statement = { Effect: 'Allow', Principal: '*', Action: ['s3:GetObject', 's3:ListBucket'] };
  const Resource = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`];
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...statement, Resource }] });
  await client.send(new PutBucketPolicyCommand({ Bucket, Policy }));
  for (const [Key, Body, WebsiteRedirectLocation] of [
    ['index.html', 'home', undefined],
    ['docs/index.html', 'documents', undefined],
    ['archive/there', 'kept', undefined],
    ['error.html', 'sorry', undefined],
    ['moved', '', '/docs/'],
  ] as const) {
    await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'text/html', WebsiteRedirectLocation }));
  }
}

async function writeCertificates(): Promise<void> {
  const validForMs = 3_600_000;
  const ca = await makeCa({ commonName: 'test', validForMs });
  const dnsNames = [Bucket, `*.${domain}`];
  const pair = await issueCertificate({
    commonName: Bucket,
    issuer: ca,
    validForMs,
    dnsNames,
    ipAddresses: ['127.0.0.1'],
  });
  await writeFile(join(folder, 'ca.crt'), ca.certPem);
  await writeFile(join(folder, 'public.crt'), pair.certPem);
  await writeFile(join(folder, 'private.key'), pair.keyPem, { mode: 0o600 });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-website-'));
  await writeCertificates();
  const env = { SVC_WEBSITE_ADDRESS: '127.0.0.1:0', SVC_DOMAIN: domain };
  const [http, https] = await Promise.all([
    startServer({ env, folder: join(folder, 'http') }),
    startServer({ env, folder: join(folder, 'https'), args: ['--certs-dir', folder] }),
  ]);
  servers = { http, https };
  for (const server of [http, https]) await server.untilLogged('"event":"ready"');
  s3 = s3Client(http);
  const ca = await readFile(join(folder, 'ca.crt'));
  await Promise.all([fill(s3), fill(s3Client(https, { requestHandler: { httpsAgent: new Agent({ ca }) } }))]);
}, 360_000);
afterAll(async () => {
  await Promise.all([servers?.http.stop(), servers?.https.stop()]);
  await rm(folder, { recursive: true, force: true });
});

describe.each(['http', 'https'] as const)('a website over %s', (scheme) => {
  const host = `${Bucket}.${domain}`;

  it.each([
    [host, '/', 200, 'home'],
    [host, '/docs/', 200, 'documents'],
    [Bucket, '/', 200, 'home'],
    [host, '/absent', 404, 'sorry'],
    [host, '/archive/there', 200, 'kept'],
    ['127.0.0.1', `/${Bucket}/docs/`, 200, 'documents'],
  ])('answers curl at %s%s', async (name, path, status, body) => {
    expect(await curl(scheme, name, path)).toEqual({ status, body, location: '' });
  });

  it.each([
    [host, '/docs', 302, '/docs/'],
    [host, '/old/a%20b', 302, '/docs/a%20b'],
    [host, '/moved', 301, '/docs/'],
    ['127.0.0.1', `/${Bucket}`, 302, `/${Bucket}/`],
  ])('redirects curl at %s%s to its own address', async (name, path, status, to) => {
    const { origin } = new URL((await websitesOf(servers[scheme])).href.replace('127.0.0.1', name));
    expect(await curl(scheme, name, path)).toMatchObject({ status, location: `${origin}${to}` });
  });

  it.each([
    [host, '/archive/absent', 307, 'https://archive.example.com/search'],
    [`moved-site.${domain}`, '/a/b', 301, 'https://www.example.com/a/b'],
  ])('redirects curl at %s%s to another host', async (name, path, status, location) => {
    expect(await curl(scheme, name, path)).toMatchObject({ status, location });
  });

  it('takes conditions and ranges, and no other methods', async () => {
    expect(await curl(scheme, host, '/', '--range', '1-2')).toMatchObject({ status: 206, body: 'om' });
    expect(await curl(scheme, host, '/', '--request', 'DELETE')).toMatchObject({ status: 405 });
    expect(await curl(scheme, `none.${domain}`, '/')).toMatchObject({ status: 404 });
  });
});

it('has the configuration that was put', async () => {
  expect(await s3.send(new GetBucketWebsiteCommand({ Bucket }))).toMatchObject(WebsiteConfiguration);
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
