import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../server/observability/audit/audit-entry.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';

const Bucket = 'events';
const target = 'A:webhook';
const timeout = 120_000;
/** The objects that the receiver got, and the keys of which it refuses the objects of one byte. */
const got: string[] = [];
const refused = new Set<string>();
const audit: AuditEntry[] = [];
let receiver: Server;
let collector: Server;
let server: RunningServer;
let client: S3Client;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

interface Message {
  readonly Key?: string;
  readonly Records?: readonly { readonly s3: { readonly object: { readonly size?: number } } }[];
}

async function listen(take: (text: string) => number): Promise<readonly [Server, string]> {
  const started = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.writeHead(take(Buffer.concat(chunks).toString())).end());
  }).listen(0, '127.0.0.1');
  await once(started, 'listening');
  return [started, `http://127.0.0.1:${(started.address() as AddressInfo).port}/`];
}

beforeAll(async () => {
  folder = await temporaryFolder();
  const [hook, hookUrl] = await listen((text) => {
    const { Key = '', Records } = JSON.parse(text) as Message;
    if (refused.has(Key) && Records?.[0]?.s3.object.size === 1) return 413;
    got.push(Key);
    return 200;
  });
  const [entries, entriesUrl] = await listen((text) => {
    for (const line of text.trim().split('\n')) audit.push(JSON.parse(line) as AuditEntry);
    return 200;
  });
  [receiver, collector] = [hook, entries];
  server = await startServer({
    env: {
      SVC_NOTIFY_WEBHOOK_ENDPOINT_A: hookUrl,
      SVC_AUDIT_WEBHOOK_ENDPOINT: entriesUrl,
      SVC_PROMETHEUS_AUTH_TYPE: 'public',
    },
  });
  await untilReady(server, timeout);
  client = s3Client(server);
  await client.send(new CreateBucketCommand({ Bucket }));
  const QueueConfigurations = [{ QueueArn: `arn:minio:sqs::${target}`, Events: ['s3:ObjectCreated:*' as const] }];
  const NotificationConfiguration = { QueueConfigurations };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
  await attempt('alias', 'set', 's', server.s3, server.accessKey, server.secretKey);
}, timeout);
afterAll(async () => {
  await server?.stop();
  for (const one of [receiver, collector]) {
    one?.close();
    one?.closeAllConnections();
  }
  await folder?.remove();
});

const attempt = (...args: string[]) => runCoffer(['--config-dir', join(folder.path, 'config'), ...args]);

async function coffer(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await attempt(...args);
  expect({ code, stderr }, `coffer ${args.join(' ')}\n${stdout.toString()}`).toEqual({ code: 0, stderr: '' });
  return stdout.toString('utf8');
}

async function held() {
  const lines = (await coffer('--json', 'admin', 'events', 'held', 's', target)).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as { readonly id: string; readonly key: string; readonly error: string });
}

async function status() {
  const { value } = await adminCall(server.s3, server, 'GET', '/minio/admin/coffer/v1/notifications');
  return (value as { readonly targets: readonly object[] }).targets[0];
}

const put = (Key: string, Body = 'x') => client.send(new PutObjectCommand({ Bucket, Key, Body }));
const metrics = async () => (await fetch(`${server.s3}/minio/v2/metrics/cluster`)).text();
const named = (name: string) => audit.filter(({ api }) => api.name === name).flatMap(({ api }) => api.objects ?? []);
const poll = { timeout, interval: 100 };

describe('coffer admin events', () => {
  it('lists what a target refuses, while the others are delivered and the target is online', async () => {
    for (const key of ['large', 'huge']) refused.add(`${Bucket}/${key}`);
    for (const key of ['large', 'huge', 'small']) await put(key);
    // It waits for the one that is refused.
    await put('huge', 'xx');
    await expect.poll(() => got, poll).toContain(`${Bucket}/small`);
    await expect.poll(async () => (await held()).map(({ key }) => key).toSorted(), poll).toEqual(['huge', 'large']);
    expect((await held())[0]?.error).toBe('it answered 413');
    await expect
      .poll(status, poll)
      .toMatchObject({ state: 'online', held: { events: 2, error: 'it answered 413' }, waiting: { events: 3 } });
    expect(await coffer('admin', 'events', 'held', 's')).toMatch(
      /A:webhook +[0-9a-f]{48} +s3:ObjectCreated:Put +events\//,
    );
  });

  it('tries an event again, and says which is not held', async () => {
    const id = (await held()).find(({ key }) => key === 'large')?.id ?? '';
    // Once the target would take it, the server may deliver it by itself before it is asked to.
    expect(await coffer('admin', 'events', 'retry', 's', target, id)).toContain('1 event of A:webhook');
    refused.delete(`${Bucket}/large`);
    await expect.poll(() => got, poll).toContain(`${Bucket}/large`);
    await expect.poll(async () => (await held()).map(({ key }) => key), poll).toEqual(['huge']);
    const { code, stderr } = await attempt('admin', 'events', 'retry', 's', target, id);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not held')]);
  });

  it('drops all only by force; what follows is delivered, and all is counted and in the audit log', async () => {
    const { code, stderr } = await attempt('admin', 'events', 'drop', 's', target, '--all');
    expect([code, stderr]).toEqual([1, expect.stringContaining('--force')]);
    expect(await coffer('admin', 'events', 'drop', 's', target, '--all', '--force')).toBe(
      'Dropped 1 event of A:webhook.\n',
    );
    await expect.poll(() => got.filter((key) => key === `${Bucket}/huge`).length, poll).toBe(1);
    await expect.poll(held, poll).toEqual([]);
    await expect.poll(metrics, poll).toMatch(/coffer_notify_target_held_events\{target_id="A:webhook"[^}]*\} 0/);
    expect(await metrics()).toMatch(/coffer_notify_target_held_dropped_events\{target_id="A:webhook"[^}]*\} 1/);
    expect(await metrics()).toMatch(/coffer_notify_target_held_retried_events\{target_id="A:webhook"[^}]*\} 1/);
    await expect
      .poll(() => [named('RetryHeldEvents'), named('DropHeldEvents')], poll)
      .toEqual([[{ objectName: `${Bucket}/large` }], [{ objectName: `${Bucket}/huge` }]]);
  });
});
