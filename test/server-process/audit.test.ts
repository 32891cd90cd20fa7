import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../server/observability/audit/audit-entry.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { inFullForm } from '../support/full-form.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer, type StartOptions } from '../support/server/start-server.ts';

const generous = { timeout: 180_000 };

/** Takes entries as a collector does; away for as long as `status` is not 200. */
class Collector {
  status = 200;
  readonly entries: AuditEntry[] = [];
  readonly tokens = new Set<string | undefined>();
  texts = '';
  #server: Server | undefined;

  /** Port 0 is any. */
  async listen(port = 0): Promise<string> {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        this.tokens.add(request.headers.authorization);
        if (this.status === 200) this.#take(body);
        response.writeHead(this.status).end();
      });
    }).listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/audit`;
  }

  #take(body: string): void {
    this.texts += body;
    for (const line of body.trim().split('\n')) this.entries.push(JSON.parse(line) as AuditEntry);
  }

  named(name: string): AuditEntry[] {
    // Several are sent at once.
    const inOrder = this.entries.toSorted((a, b) => (a.time < b.time ? -1 : 1));
    return inOrder.filter(({ api }) => api.name === name);
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => {
      this.#server?.close(resolve);
    });
  }
}

let folder: string;
let collector: Collector;
let endpoint: string;
const servers: RunningServer[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-audit-'));
  collector = new Collector();
  endpoint = await collector.listen();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await collector.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(
  env: Record<string, string>,
  more: Pick<StartOptions, 'folder' | 'console'> = {},
): Promise<RunningServer> {
  const server = await startServer({ env, ...more });
  servers.push(server);
  await untilReady(server, generous.timeout);
  return server;
}

/** The IDs of requests that have no entry in the files of a queue. */
async function missing(queue: string, ids: readonly string[]): Promise<string[]> {
  const files = (await readdir(queue)).map((name) => readFile(join(queue, name), 'utf8'));
  const text = (await Promise.all(files)).join('');
  return ids.filter((id) => !text.includes(id));
}

const rootKeys = (server: RunningServer) => ({ accessKey: server.accessKey, secretKey: server.secretKey });

// Each starts servers of its own.
describe('the audit log of a running server', { timeout: 720_000 }, () => {
  it('tells a web service by the settings of MinIO who did what, and why they could, and no secret', async () => {
    const server = await start({
      SVC_THREADS: '2',
      MINIO_AUDIT_WEBHOOK_ENABLE_SIEM: 'on',
      MINIO_AUDIT_WEBHOOK_ENDPOINT_SIEM: endpoint,
      MINIO_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM: 'Splunk collector-token',
    });
    const root = s3Client(server);
    await root.send(new CreateBucketCommand({ Bucket: 'photos' }));
    await root.send(new PutObjectCommand({ Bucket: 'photos', Key: 'a.jpg', Body: 'content' }));
    const user = 'add-user?accessKey=bob';
    await adminCall(server.s3, rootKeys(server), 'PUT', user, { secretKey: 'bobs-own-password', status: 'enabled' });
    const bob = s3Client(server, { credentials: { accessKeyId: 'bob', secretAccessKey: 'bobs-own-password' } });
    expect((await refusal(bob.send(new GetObjectCommand({ Bucket: 'photos', Key: 'a.jpg' })))).code).toBe(
      'AccessDenied',
    );
    const sts = new STSClient({
      endpoint: server.s3,
      region: 'us-east-1',
      credentials: { accessKeyId: 'bob', secretAccessKey: 'bobs-own-password' },
    });
    const { Credentials: made } = await sts.send(
      new AssumeRoleCommand({ RoleArn: 'arn:x:y', RoleSessionName: 'session' }),
    );
    const temporary = s3Client(server, {
      credentials: {
        accessKeyId: made?.AccessKeyId ?? '',
        secretAccessKey: made?.SecretAccessKey ?? '',
        sessionToken: made?.SessionToken ?? '',
      },
    });
    const presigned = await getSignedUrl(temporary, new GetObjectCommand({ Bucket: 'photos', Key: 'a.jpg' }));
    expect((await fetch(presigned)).status).toBe(403);
    await root.send(
      new PutBucketVersioningCommand({ Bucket: 'photos', VersioningConfiguration: { Status: 'Enabled' } }),
    );
    const named = Array.from({ length: 150 }, (_, at) => ({ Key: `many/${at}` }));
    const refused = { Key: 'a.jpg', VersionId: 'no-version' };
    await root.send(new DeleteObjectsCommand({ Bucket: 'photos', Delete: { Objects: [...named, refused] } }));
    await fetch(`${server.s3}/minio/health/live`);
    await expect.poll(() => collector.named('DeleteMultipleObjects').length, generous).toBe(1);
    await expect.poll(() => collector.named('GetObject').length, generous).toBe(2);
    await expect.poll(() => collector.named('AssumeRole').length, generous).toBe(1);
    await server.stop();

    expect(collector.named('PutObject')).toMatchObject([
      {
        version: '1',
        api: { bucket: 'photos', object: 'a.jpg', statusCode: 200 },
        accessKey: 'root',
        identity: { kind: 'root' },
        requestHeader: { Authorization: '*REDACTED*' },
      },
    ]);
    const objects = collector.named('DeleteMultipleObjects')[0]?.api.objects ?? [];
    expect(objects).toHaveLength(151);
    expect(objects).toEqual(
      expect.arrayContaining([
        ...named.map(({ Key }) => ({ objectName: Key, versionId: expect.any(String) as string })),
        { objectName: 'a.jpg', versionId: 'no-version', error: 'NoSuchVersion' },
      ]),
    );
    expect(collector.named('CreateUser')).toMatchObject([
      {
        requestPath: '/minio/admin/v3/add-user',
        requestQuery: { accessKey: 'bob' },
      },
    ]);
    expect(collector.named('CreateUser')[0]?.decisions?.[0]).toMatchObject({
      action: 'admin:CreateUser',
      effect: 'allow',
    });
    const [denied, byUrl] = collector.named('GetObject');
    expect(denied).toMatchObject({
      api: { statusCode: 403 },
      accessKey: 'bob',
      error: expect.stringMatching(/^AccessDenied: /) as unknown,
      decisions: [{ action: 's3:GetObject', resource: 'photos/a.jpg', effect: 'deny' }],
    });
    expect(denied?.decisions?.[0]?.reason).toMatch(/^bob: /);
    expect(collector.named('AssumeRole')).toMatchObject([
      { accessKey: 'bob', granted: { kind: 'temporary', accessKey: made?.AccessKeyId } },
    ]);
    expect(byUrl).toMatchObject({
      accessKey: made?.AccessKeyId,
      parentUser: 'bob',
      requestQuery: { 'X-Amz-Signature': '*REDACTED*', 'X-Amz-Security-Token': '*REDACTED*' },
    });
    expect(collector.entries.filter(({ requestPath }) => requestPath.includes('health'))).toEqual([]);
    expect([...collector.tokens]).toEqual(['Splunk collector-token']);
    const signature = new URL(presigned).searchParams.get('X-Amz-Signature') ?? '-';
    for (const secret of ['bobs-own-password', 'root-password', made?.SecretAccessKey, made?.SessionToken, signature]) {
      expect(collector.texts).not.toContain(secret);
    }
    expect(collector.texts).not.toMatch(/Signature=[0-9a-f]/);
  });

  it('tells who signs in to the console, who fails to, and what they do there', async () => {
    const server = await start({ SVC_AUDIT_WEBHOOK_ENDPOINT: endpoint }, { console: true });
    const call = (path: string, body: unknown, cookie = '') =>
      fetch(`${server.console}/api/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-coffer-console': '1', cookie },
        body: JSON.stringify(body),
      });
    const { accessKey, secretKey } = server;
    expect((await call('sign-in', { accessKey, secretKey: 'guessed-password' })).status).toBe(401);
    const signedIn = await call('sign-in', { accessKey, secretKey });
    const cookie = signedIn.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    expect((await call('buckets', { name: 'made-here' }, cookie)).ok).toBe(true);
    expect((await call('Policy-Check', {})).status).toBe(401);
    const session = `${server.console.replace(/\/$/, '')}/API/session`;
    const headers = { cookie, 'x-coffer-console': '1', 'x-coffer-refresh': '1' };
    expect((await fetch(session, { headers })).ok).toBe(true);
    await (await fetch(`${server.console}/`)).text();
    await expect.poll(() => collector.entries.length, generous).toBe(5);
    await server.stop();
    expect(collector.named('ConsoleCheckPolicy')).toMatchObject([{ api: { statusCode: 401 } }]);
    expect(collector.named('ConsoleGetSession')).toMatchObject([
      { api: { statusCode: 200 }, accessKey: 'root', tags: { refresh: true } },
    ]);
    expect(collector.named('ConsoleSignIn')).toMatchObject([
      { trigger: 'console', api: { statusCode: 401 }, error: expect.stringMatching(/^SignInRefused/) as unknown },
      {
        trigger: 'console',
        api: { statusCode: 200 },
        accessKey: 'root',
        responseHeader: { 'Set-Cookie': '*REDACTED*' },
      },
    ]);
    expect(collector.named('PutBucket')).toMatchObject([
      {
        trigger: 'console',
        api: { bucket: 'made-here' },
        accessKey: 'root',
        requestHeader: { Cookie: '*REDACTED*' },
        decisions: [{ action: 's3:CreateBucket', resource: 'made-here', effect: 'allow' }],
      },
    ]);
    expect(collector.entries).toHaveLength(5);
    for (const secret of ['guessed-password', 'root-password', cookie.split('=')[1] ?? '-']) {
      expect(collector.texts).not.toContain(secret);
    }
  });

  it('keeps entries in a folder while the service is away, over a restart of the server', async () => {
    collector.status = 503;
    const data = join(folder, 'data');
    const env = {
      SVC_AUDIT_WEBHOOK_ENDPOINT: endpoint,
      SVC_AUDIT_WEBHOOK_QUEUE_DIR: join(folder, 'queue'),
      SVC_AUDIT_WEBHOOK_RETRY_INTERVAL: '1s',
    };
    const first = await start(env, { folder: data });
    await s3Client(first).send(new CreateBucketCommand({ Bucket: 'kept' }));
    await first.untilLogged('"event":"audit-away"');
    await first.kill();
    expect(await readdir(join(folder, 'queue'))).not.toEqual([]);
    collector.status = 200;
    await start(env, { folder: data });
    await expect.poll(() => collector.named('PutBucket').length, generous).toBe(1);
    await expect.poll(() => readdir(join(folder, 'queue')), generous).toEqual([]);
  });

  it('delivers each entry at least once, where the service is gone and the server is killed again and again under load', async () => {
    await collector.close();
    const data = join(folder, 'data');
    const queue = join(folder, 'queue');
    const env = {
      SVC_THREADS: '2',
      SVC_AUDIT_WEBHOOK_ENDPOINT: endpoint,
      SVC_AUDIT_WEBHOOK_QUEUE_DIR: queue,
      SVC_AUDIT_WEBHOOK_RETRY_INTERVAL: '1s',
    };
    const answered: string[] = [];
    for (let round = 0; round < inFullForm(5, 2); round++) {
      const server = await start(env, { folder: data });
      const s3 = s3Client(server);
      const send = async (at: number) => {
        // A read, a refusal and a write have entries alike.
        const Key = `${round}-${at}`;
        await s3.send(new PutObjectCommand({ Bucket: 'kept', Key, Body: 'x' })).then(ofAnswer, ofError);
        await s3.send(new GetObjectCommand({ Bucket: 'kept', Key })).then(ofAnswer, ofError);
      };
      const ofAnswer = ({ $metadata }: { $metadata: { requestId?: string | undefined } }) =>
        answered.push($metadata.requestId ?? '');
      const ofError = (error: unknown) => ofAnswer(error as { $metadata: { requestId?: string } });
      if (round === 0) await s3.send(new CreateBucketCommand({ Bucket: 'kept' }));
      await Promise.all(Array.from({ length: 20 }, (_, at) => send(at)));
      // An entry is written some milliseconds after its answer.
      await expect.poll(() => missing(queue, answered), generous).toEqual([]);
      const underLoad = Promise.allSettled(
        Array.from({ length: 20 }, (_, at) => fetch(`${server.s3}/kept/${round}-anonymous-${at}`)),
      );
      await server.kill();
      await underLoad;
    }
    expect(answered).not.toContain('');
    await collector.listen(Number(new URL(endpoint).port));
    await start(env, { folder: data });
    const delivered = () => new Set(collector.entries.map(({ requestID }) => requestID));
    await expect.poll(() => answered.filter((id) => !delivered().has(id)), generous).toEqual([]);
    await expect.poll(() => readdir(queue), generous).toEqual([]);
  });

  it('is a file that begins anew on SIGHUP, with the headers of answers, and no digest of an encrypted object', async () => {
    const path = join(folder, 'audit.log');
    const key = `my-key:${randomBytes(32).toString('base64')}`;
    const server = await start({ SVC_AUDIT_FILE: path, SVC_KMS_SECRET_KEY: key });
    const s3 = s3Client(server);
    await s3.send(new CreateBucketCommand({ Bucket: 'first' }));
    await expect.poll(() => readFile(path, 'utf8'), generous).toContain('"bucket":"first"');
    await rename(path, `${path}.1`);
    process.kill(server.pid, 'SIGHUP');
    await expect.poll(() => readFile(path, 'utf8').catch(() => 'absent'), generous).toBe('');
    await s3.send(new CreateBucketCommand({ Bucket: 'photos' }));
    const put = (Key: string, ServerSideEncryption?: 'AES256') =>
      s3.send(new PutObjectCommand({ Bucket: 'photos', Key, Body: Key, ServerSideEncryption }));
    const { ETag: plain } = await put('plain');
    const { ETag: hidden } = await put('hidden', 'AES256');
    await (await s3.send(new GetObjectCommand({ Bucket: 'photos', Key: 'hidden' }))).Body?.transformToString();
    await server.stop();
    const text = await readFile(path, 'utf8');
    expect(text).toContain('"bucket":"photos"');
    expect(text).not.toContain('"bucket":"first"');
    const entries = text.trim().split('\n');
    const headersOf = (name: string, object: string) =>
      entries
        .map((line) => JSON.parse(line) as AuditEntry)
        .find(({ api }) => api.name === name && api.object === object)?.responseHeader;
    expect(headersOf('PutObject', 'plain')).toMatchObject({ Etag: plain });
    expect(headersOf('GetObject', 'hidden')).toMatchObject({
      'Content-Length': '6',
      'X-Amz-Server-Side-Encryption': 'AES256',
      Etag: '*REDACTED*',
    });
    const sha256 = createHash('sha256').update('hidden').digest();
    const digests = [hidden, sha256.toString('hex'), sha256.toString('base64')];
    for (const digest of digests) expect(text).not.toContain(digest?.replaceAll('"', ''));
  });

  it('keeps a server from starting where it cannot be written', async () => {
    const starting = start({ SVC_AUDIT_FILE: join(folder, 'none', 'audit.log') });
    await expect(starting).rejects.toThrow(/SVC_AUDIT_FILE: .*audit\.log cannot be written: no such file/);
  });
});
