import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import type { AuditEntry } from '../../server/observability/audit/audit-entry.ts';

const Bucket = 'presigned';
const Key = 'folder/a b+ü&=%.txt';
let folder: string;
let server: RunningServer;
let s3: S3Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-presigned-'));
  server = await startServer({ env: { SVC_AUDIT_FILE: join(folder, 'audit.log') } });
  await untilReady(server);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
});
afterAll(async () => {
  s3.destroy();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const read = async () => (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
const store = (Body: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body }));

/** How the server saw the last request for an operation. */
async function signatureOf(name: string): Promise<unknown> {
  const lines = (await readFile(join(folder, 'audit.log'), 'utf8')).trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as AuditEntry);
  return entries.findLast((entry) => entry.api.name === name && entry.requestQuery !== undefined)?.signature;
}

async function boto3<const Name extends string>(
  operations: readonly (readonly [Name, ...rest: [operation: string, parameters: object]])[],
  more: Record<string, string> = {},
): Promise<Record<Name, string>> {
  const { accessKey, secretKey } = server;
  const job = { endpoint: server.s3, accessKey, secretKey, operations, ...more };
  const script = fileURLToPath(new URL('presign.py', import.meta.url));
  const { code, stdout, stderr } = await runCommand(tool('boto3/bin/python', 'boto3'), [script], {
    input: JSON.stringify(job),
  });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<Name, string>;
}

const send = async (url: string, init: RequestInit = {}) => {
  const answer = await fetch(url, init);
  return { status: answer.status, body: await answer.text(), type: answer.headers.get('content-type') };
};

describe('boto3', () => {
  it('presigns by version 2 by default: read, write, delete', async () => {
    const at = { Bucket, Key };
    const urls = await boto3([
      ['put', 'put_object', at],
      ['typed', 'put_object', { ...at, ContentType: 'text/x-typed', Metadata: { colour: 'green' } }],
      ['get', 'get_object', { ...at, ResponseContentType: 'text/x b;+', ResponseContentDisposition: 'attachment' }],
      ['head', 'head_object', at],
      ['delete', 'delete_object', at],
    ]);
    expect(urls.get).toMatch(/[?&]AWSAccessKeyId=.*Signature=/);
    expect(await send(urls.put, { method: 'PUT', body: Buffer.from('by boto3') })).toMatchObject({ status: 200 });
    expect(await send(urls.get)).toEqual({ status: 200, body: 'by boto3', type: 'text/x b;+' });
    await expect.poll(() => signatureOf('GetObject')).toEqual({ version: 'SigV2', method: 'QueryString' });
    const typed = { 'content-type': 'text/x-typed' };
    expect(await send(urls.typed, { method: 'PUT', body: 'x', headers: typed })).toMatchObject({ status: 200 });
    expect(await send(urls.head, { method: 'HEAD' })).toMatchObject({ status: 200, type: 'text/x-typed' });
    const stored = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(stored.Metadata).toEqual({ colour: 'green' });
    const another = { method: 'PUT', body: 'x', headers: { 'content-type': 'text/html' } };
    expect((await send(urls.typed, another)).status).toBe(400);
    expect((await send(urls.get.replace(Bucket, 'other'))).body).toContain('<Code>SignatureDoesNotMatch</Code>');
    expect((await send(urls.delete, { method: 'DELETE' })).status).toBe(204);
    expect((await send(urls.get)).body).toContain('<Code>NoSuchKey</Code>');
  });

  it('presigns other operations by version 2: buckets, listings, subresources, uploads in parts', async () => {
    const at = { Bucket, Key };
    await store('content');
    const urls = await boto3([
      ['buckets', 'list_buckets', {}],
      ['head', 'head_bucket', { Bucket }],
      ['list', 'list_objects', { Bucket, Prefix: 'folder/', Delimiter: '/' }],
      ['list2', 'list_objects_v2', { Bucket, Prefix: 'folder/' }],
      ['versions', 'list_object_versions', { Bucket }],
      ['location', 'get_bucket_location', { Bucket }],
      ['tagging', 'get_object_tagging', at],
      ['versioning', 'get_bucket_versioning', { Bucket }],
      ['begin', 'create_multipart_upload', { Bucket, Key: 'parts' }],
      ['copy', 'copy_object', { Bucket, Key: 'copy', CopySource: { Bucket, Key } }],
    ]);
    for (const name of ['buckets', 'head', 'list', 'list2', 'versions', 'location', 'tagging', 'versioning'] as const) {
      const method = name === 'head' ? 'HEAD' : 'GET';
      expect(await send(urls[name], { method }), name).toMatchObject({ status: 200 });
    }
    expect(await send(urls.copy, { method: 'PUT' })).toMatchObject({ status: 200 });
    const begun = await send(urls.begin, { method: 'POST' });
    const UploadId = /<UploadId>(.*)<\/UploadId>/.exec(begun.body)?.[1] ?? '';
    const part = { Bucket, Key: 'parts', UploadId };
    const then = await boto3([
      ['part', 'upload_part', { ...part, PartNumber: 1 }],
      ['parts', 'list_parts', part],
      ['complete', 'complete_multipart_upload', part],
    ]);
    const sent = await fetch(then.part, { method: 'PUT', body: Buffer.from('a part') });
    expect(sent.status).toBe(200);
    expect((await send(then.parts)).body).toContain('<PartNumber>1</PartNumber>');
    const etag = sent.headers.get('etag') ?? '';
    const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`;
    expect(await send(then.complete, { method: 'POST', body: Buffer.from(body) })).toMatchObject({ status: 200 });
  });

  it('presigns with temporary credentials, by either version', async () => {
    await store('for a token');
    const sts = new STSClient({
      endpoint: server.s3,
      region: 'us-east-1',
      credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey },
    });
    const role = { RoleArn: 'arn:aws:iam::000000000000:role/any', RoleSessionName: 'test' };
    const { Credentials } = await sts.send(new AssumeRoleCommand(role));
    sts.destroy();
    const given = {
      accessKey: Credentials?.AccessKeyId ?? '',
      secretKey: Credentials?.SecretAccessKey ?? '',
      sessionToken: Credentials?.SessionToken ?? '',
    };
    for (const version of ['s3', 's3v4']) {
      const { get } = await boto3([['get', 'get_object', { Bucket, Key }]], { ...given, version, region: 'us-east-1' });
      expect(await send(get)).toMatchObject({ status: 200, body: 'for a token' });
      const without = get.replace(/x-amz-security-token=[^&]*&?/i, '');
      expect((await send(without)).status).toBe(403);
    }
  });
});

it('AWS CLI v1 presigns by default', async () => {
  await store('by the CLI');
  const program = tool('awscli/bin/aws', 'awscli');
  const env = { AWS_ACCESS_KEY_ID: server.accessKey, AWS_SECRET_ACCESS_KEY: server.secretKey, HOME: folder };
  const { code, stdout, stderr } = await runCommand(
    program,
    ['--endpoint-url', server.s3, 's3', 'presign', `s3://${Bucket}/${Key}`],
    { env },
  );
  expect(code, stderr).toBe(0);
  expect(await send(stdout.trim())).toMatchObject({ status: 200, body: 'by the CLI' });
  expect((await send(stdout.trim().replace('Signature=', 'Signature=A'))).status).toBe(403);
});

it.each([
  ['by default', []],
  ['by version 2', ['--signature-v2']],
])('s3cmd signs URLs %s', async (_, more) => {
  await store('by s3cmd');
  const { host } = new URL(server.s3);
  const lines = ['[default]', `access_key = ${server.accessKey}`, `secret_key = ${server.secretKey}`];
  const config = join(folder, 's3cfg');
  writeFileSync(config, [...lines, `host_base = ${host}`, `host_bucket = ${host}`, 'use_https = False'].join('\n'));
  const args = ['--config', config, ...more, 'signurl', `s3://${Bucket}/${Key}`, '+300'];
  const { code, stdout, stderr } = await runCommand('/usr/bin/s3cmd', args, {
    env: { HOME: folder, LC_ALL: 'C.UTF-8' },
  });
  expect(code, stderr).toBe(0);
  expect(await send(stdout.trim())).toMatchObject({ status: 200, body: 'by s3cmd' });
});

interface MinioClient {
  presignedGetObject(bucket: string, key: string, seconds?: number, overrides?: object): Promise<string>;
  presignedPutObject(bucket: string, key: string, seconds?: number): Promise<string>;
}

it('minio-js presigns by default', async () => {
  const load = createRequire(tool('minio-js/node_modules/minio/package.json', 'minio-js'));
  const { Client } = load('minio') as { Client: new (options: object) => MinioClient };
  const { hostname, port } = new URL(server.s3);
  const { accessKey, secretKey } = server;
  const client = new Client({ endPoint: hostname, port: Number(port), useSSL: false, accessKey, secretKey });
  expect(
    (await send(await client.presignedPutObject(Bucket, Key), { method: 'PUT', body: 'by minio-js' })).status,
  ).toBe(200);
  expect(await read()).toBe('by minio-js');
  const url = await client.presignedGetObject(Bucket, Key, 60, { 'response-content-type': 'text/x' });
  expect(await send(url)).toEqual({ status: 200, body: 'by minio-js', type: 'text/x' });
});
