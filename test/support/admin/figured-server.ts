import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { adminCall } from '../server/admin-call.ts';
import { s3Client } from '../server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../server/start-server.ts';

/** What the server has, whatever a client makes of it. */
export const counts = {
  objects: { count: 3 },
  versions: { count: 5 },
  deletemarkers: { count: 1 },
  buckets: { count: 2 },
  usage: { size: 300_013 },
} as const;

export const storedBuckets = {
  plain: { size: 300_003, objects: 2, versions: 0, deleteMarkers: 0 },
  versions: { size: 10, objects: 1, versions: 5, deleteMarkers: 1 },
} as const;

export const domains = ['s3.example.com', 'storage.example.com'] as const;

interface FiguredServer {
  readonly server: RunningServer;
  /** The targets of audit entries and events take them, or answer 503. */
  take(isTaking: boolean): void;
  stop(): Promise<void>;
}

/** Starts a server in which nearly every figure is something else than its default. */
export async function startFiguredServer(): Promise<FiguredServer> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-figures-'));
  let isTaking = true;
  const target = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(isTaking ? 200 : 503).end());
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
  const server = await startServer({
    env: {
      SVC_REGION: 'us-east-1',
      SVC_DOMAIN: domains.join(','),
      SVC_PROMETHEUS_AUTH_TYPE: 'public',
      SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}`,
      SVC_AUDIT_FILE: join(folder, 'audit.log'),
      SVC_AUDIT_WEBHOOK_ENABLE_SIEM: 'on',
      SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM: endpoint,
      SVC_NOTIFY_WEBHOOK_ENABLE_HOOK: 'on',
      SVC_NOTIFY_WEBHOOK_ENDPOINT_HOOK: endpoint,
    },
  });
  await untilReady(server);
  await fill(server);
  return {
    server,
    take(next) {
      isTaking = next;
    },
    async stop() {
      await server.stop();
      target.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function fill(server: RunningServer): Promise<void> {
  const s3 = s3Client(server);
  for (const Bucket of ['plain', 'versions']) await s3.send(new CreateBucketCommand({ Bucket }));
  const Bucket = 'versions';
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  await s3.send(
    new PutBucketNotificationConfigurationCommand({
      Bucket: 'plain',
      NotificationConfiguration: {
        QueueConfigurations: [{ QueueArn: 'arn:minio:sqs:us-east-1:HOOK:webhook', Events: ['s3:ObjectCreated:*'] }],
      },
    }),
  );
  await s3.send(new PutObjectCommand({ Bucket: 'plain', Key: 'a', Body: '123' }));
  await s3.send(new PutObjectCommand({ Bucket: 'plain', Key: 'packed', Body: Buffer.alloc(300_000) }));
  for (const Body of ['1', '22', '333']) await s3.send(new PutObjectCommand({ Bucket, Key: 'a', Body }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'b', Body: '4444' }));
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'b' }));
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket: 'plain', Key: 'begun' }));
  await s3.send(new UploadPartCommand({ Bucket: 'plain', Key: 'begun', UploadId, PartNumber: 1, Body: 'a part' }));
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'plain', Key: 'packed' }));
  await Body?.transformToByteArray();
  await Promise.allSettled([
    s3.send(new GetObjectCommand({ Bucket: 'plain', Key: 'none' })),
    s3Client({ ...server, secretKey: 'another-password' }).send(new GetObjectCommand({ Bucket: 'plain', Key: 'a' })),
  ]);
  const { status } = await adminCall(server.s3, server, 'POST', '/minio/admin/coffer/v1/usage');
  if (status !== 200) throw new Error(`the objects were not counted: ${status}`);
}
