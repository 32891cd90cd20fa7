import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

/** A server in which every figure of the admin API is something else than its default. */
let server: RunningServer;
let folder: string;
/** It takes audit entries while `isTaking`. */
let siem: Server;
let isTaking = true;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-figures-'));
  siem = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(isTaking ? 200 : 503).end());
  });
  await new Promise<void>((resolve) => siem.listen(0, '127.0.0.1', resolve));
  server = await startServer({
    env: {
      SVC_DOMAIN: 's3.example.com,storage.example.com',
      SVC_AUDIT_FILE: join(folder, 'audit.log'),
      SVC_AUDIT_WEBHOOK_ENABLE_SIEM: 'on',
      SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM: `http://127.0.0.1:${(siem.address() as AddressInfo).port}/`,
    },
  });
  await untilReady(server);
  const s3 = s3Client(server);
  for (const Bucket of ['plain', 'versions']) await s3.send(new CreateBucketCommand({ Bucket }));
  const VersioningConfiguration = { Status: 'Enabled' } as const;
  await s3.send(new PutBucketVersioningCommand({ Bucket: 'versions', VersioningConfiguration }));
  await s3.send(new PutObjectCommand({ Bucket: 'plain', Key: 'a', Body: '123' }));
  for (const Body of ['1', '22', '333']) await s3.send(new PutObjectCommand({ Bucket: 'versions', Key: 'a', Body }));
  await s3.send(new PutObjectCommand({ Bucket: 'versions', Key: 'b', Body: '4444' }));
  await s3.send(new DeleteObjectCommand({ Bucket: 'versions', Key: 'b' }));
  expect((await call('POST', '/minio/admin/coffer/v1/usage')).status).toBe(200);
}, 60_000);

afterAll(async () => {
  await server?.stop();
  siem?.close();
  await rm(folder, { recursive: true, force: true });
});

const call = (method: string, target: string) => adminCall(server.s3, server, method, target);
const valueOf = async (target: string) => (await call('GET', target)).value as Record<string, never>;

async function auditStates(): Promise<Record<string, { status: string }>> {
  const { value } = await call('GET', 'info');
  const { audit } = (value as { services: { audit: Record<string, { status: string }>[] } }).services;
  return Object.assign({}, ...audit) as Record<string, { status: string }>;
}

const counts = { objects: { count: 2 }, versions: { count: 5 }, deletemarkers: { count: 1 }, buckets: { count: 2 } };

describe('every figure of', () => {
  it('the state of the server is true', async () => {
    const info = await valueOf('info');
    expect(info).toMatchObject({
      ...counts,
      domain: ['s3.example.com', 'storage.example.com'],
      usage: { size: 13 },
      pools: { 0: { 0: { objectsCount: 2, versionsCount: 5, deleteMarkersCount: 1, usage: 13 } } },
    });
  });

  it('the audit targets is that of their last entry', async () => {
    await expect.poll(auditStates, { timeout: 20_000 }).toEqual({
      file: { status: 'online' },
      'webhook:SIEM': { status: 'online' },
    });
    isTaking = false;
    await expect
      .poll(async () => (await auditStates())['webhook:SIEM'], { timeout: 20_000 })
      .toEqual({ status: 'offline' });
    isTaking = true;
    await expect
      .poll(async () => (await auditStates())['webhook:SIEM'], { timeout: 20_000 })
      .toEqual({ status: 'online' });
  });

  it('an account is true, by bucket', async () => {
    const { Buckets } = await valueOf('accountinfo');
    expect(Buckets).toMatchObject([
      { name: 'plain', size: 3, objects: 1, versions: 0, deleteMarkers: 0 },
      { name: 'versions', size: 10, objects: 1, versions: 5, deleteMarkers: 1 },
    ]);
  });

  it('the usage is true', async () => {
    expect(await valueOf('datausageinfo')).toMatchObject({
      objectsCount: 2,
      versionsCount: 5,
      deleteMarkersCount: 1,
      objectsTotalSize: 13,
      bucketsCount: 2,
    });
  });

  it('the own client is the same', async () => {
    const host = server.s3.replace('http://', `http://${server.accessKey}:${server.secretKey}@`);
    const { code, stdout } = await runCoffer(['--json', 'admin', 'info', 's'], { env: { COFFER_HOST_s: host } });
    expect(code).toBe(0);
    const printed = JSON.parse(stdout.toString()) as { info?: object };
    expect(printed.info ?? printed).toMatchObject(counts);
  });
});
