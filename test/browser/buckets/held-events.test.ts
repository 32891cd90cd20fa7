import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, PutBucketNotificationConfigurationCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../../support/server/start-server.ts';
import type { Visitor } from '../open-browser.ts';
import { signIn } from '../sign-in.ts';
import { visitEachTest } from '../visit-each-test.ts';

// A whole way, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let receiver: Server;
let server: RunningServer;
let visitor: Visitor;
let page: Page;
/** The keys that the receiver took, and those that it refuses. */
const got: string[] = [];
const refused = new Set(['large', 'odd']);

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { Key = '' } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { readonly Key?: string };
      const key = Key.slice(Key.indexOf('/') + 1);
      if (!refused.has(key)) got.push(key);
      response.writeHead(refused.has(key) ? 413 : 200).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});

afterAll(() => {
  receiver.close();
  receiver.closeAllConnections();
});

visitEachTest({
  server: () =>
    startServer({
      env: { SVC_NOTIFY_WEBHOOK_ENDPOINT_A: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` },
    }),
  ready(started) {
    server = started;
  },
  begin(one) {
    visitor = one;
    page = one.page;
  },
});

const patient = { timeout: 180_000 };
const Bucket = 'told';

describe('the events that a target refuses', () => {
  it('are listed with their reasons, tried again, and dropped', async () => {
    const s3 = s3Client(server);
    await s3.send(new CreateBucketCommand({ Bucket }));
    const QueueConfigurations = [{ QueueArn: 'arn:minio:sqs::A:webhook', Events: ['s3:ObjectCreated:*' as const] }];
    const NotificationConfiguration = { QueueConfigurations };
    await s3.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
    for (const Key of ['large', 'odd', 'good']) await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    await expect.poll(() => got, patient).toContain('good');

    await signIn(page, server);
    const button = page.getByRole('button', { name: 'Show refused events' });
    await expect
      .poll(
        async () => {
          await page.goto(`${server.console}/buckets/${Bucket}/settings`);
          await page.getByText('A:webhook is told').waitFor();
          await visitor.untilAnswered();
          return page.getByText('The target refuses 2 events').count();
        },
        { timeout: 180_000 },
      )
      .toBe(1);
    await button.click();
    const dialog = page.getByRole('dialog', { name: 'Events that A:webhook refuses' });
    await dialog.getByText('told/large').waitFor();
    await dialog.getByText('413').first().waitFor();
    await visitor.picture('held-events');

    refused.delete('large');
    await dialog.getByRole('button', { name: 'Try the event of told/large again' }).click();
    await page.getByText('1 event is tried again.').waitFor();
    await expect.poll(() => got, patient).toContain('large');

    await dialog.getByRole('button', { name: 'Drop the event of told/odd…' }).click();
    await page.getByRole('button', { name: 'Drop event', exact: true }).click();
    await page.getByText('The event is dropped.').waitFor();
    await expect
      .poll(
        async () => {
          await page.reload();
          await page.getByText('A:webhook is told').waitFor();
          await visitor.untilAnswered();
          return button.count();
        },
        { timeout: 180_000 },
      )
      .toBe(0);
    expect(got).not.toContain('odd');
  });
});
