import { CreateBucketCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sendHalfClosed } from '../support/process/raw-http.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: RunningServer;
let cookie: string;

beforeAll(async () => {
  server = await startServer({
    console: true,
    env: {
      SVC_NOTIFY_WEBHOOK_ENABLE_HOOK: 'on',
      SVC_NOTIFY_WEBHOOK_ENDPOINT_HOOK: 'http://127.0.0.1:9/hook',
    },
  });
  await untilReady(server);
  const s3 = s3Client(server);
  for (const Bucket of ['docs', 'copies']) {
    await s3.send(new CreateBucketCommand({ Bucket }));
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  }
  const { accessKey, secretKey } = server;
  const signedIn = await send('POST', '/sign-in', JSON.stringify({ accessKey, secretKey }));
  cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
});
afterAll(async () => {
  await server?.stop();
});

const send = (method: string, path: string, body?: string) =>
  fetch(`${server.console}/api${path}`, {
    method,
    headers: { 'x-coffer-console': '1', 'content-type': 'application/json', cookie: cookie ?? '' },
    ...(body !== undefined && { body }),
  });

describe('the console of a running server', () => {
  it('answers a client that closes its sending half', async () => {
    const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    // The change is flushed, so that the end of the half comes before the answer.
    const lines = [
      'PUT /api/s3/docs?versioning HTTP/1.1',
      `Host: ${new URL(server.console).host}`,
      `Content-Length: ${versioning.length}`,
      'x-coffer-console: 1',
      `cookie: ${cookie}`,
    ];
    const answer = await sendHalfClosed(server.console, `${lines.join('\r\n')}\r\n\r\n${versioning}`);
    expect([answer.status, answer.reset]).toEqual([200, false]);
  });

  it('has the targets of notifications', async () => {
    const queue = `<QueueConfiguration><Queue>arn:minio:sqs:us-east-1:HOOK:webhook</Queue>
      <Event>s3:ObjectCreated:*</Event></QueueConfiguration>`;
    const saved = await send(
      'PUT',
      '/s3/docs?notification',
      `<NotificationConfiguration>${queue}</NotificationConfiguration>`,
    );
    expect([saved.status, await saved.text()]).toEqual([200, '']);
    expect(await (await send('GET', '/s3/docs?notification')).text()).toContain('HOOK:webhook');
    const { targets } = (await (await send('GET', '/admin/coffer/notifications')).json()) as {
      readonly targets: readonly { readonly arn: string }[];
    };
    expect(targets.map(({ arn }) => arn)).toEqual(['arn:minio:sqs:us-east-1:HOOK:webhook']);
  });

  it('replicates buckets: targets, rules and progress', async () => {
    const target = {
      endpoint: new URL(server.s3).host,
      secure: false,
      targetbucket: 'copies',
      credentials: { accessKey: server.accessKey, secretKey: server.secretKey },
      type: 'replication',
    };
    const added = await send('PUT', '/admin/set-remote-target?bucket=docs', JSON.stringify(target));
    const arn = (await added.json()) as string;
    expect(arn).toMatch(/^arn:minio:replication:/);
    const rule = `<Rule><Status>Enabled</Status><Priority>1</Priority><DeleteMarkerReplication><Status>Enabled</Status>
      </DeleteMarkerReplication><Destination><Bucket>${arn}</Bucket></Destination><Filter><Prefix></Prefix></Filter>
      <ExistingObjectReplication><Status>Enabled</Status></ExistingObjectReplication></Rule>`;
    const saved = await send(
      'PUT',
      '/s3/docs?replication',
      `<ReplicationConfiguration><Role></Role>${rule}</ReplicationConfiguration>`,
    );
    expect([saved.status, await saved.text()]).toEqual([200, '']);
    const { Stats } = (await (await send('GET', '/s3/docs?replication-metrics')).json()) as { readonly Stats: object };
    expect(Stats).toMatchObject({ [arn]: { pendingReplicationCount: 0 } });
    expect((await send('PUT', `/s3/docs?replication-reset&arn=${encodeURIComponent(arn)}`)).status).toBe(200);
  });
});
