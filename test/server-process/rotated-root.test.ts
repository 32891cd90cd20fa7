import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callAdmin } from '../../operator/reconcile/managed/admin-request.ts';
import { scrapeToken } from '../../operator/runtime/kubernetes/objects/service-monitor.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

// What the operator does while it rotates the root credentials of a tenant: servers that have the new ones take both.

let folder: string;
let server: RunningServer;
const former = (lines: string) => writeFile(join(folder, 'former'), lines);
const clientOf = (accessKey: string, secretKey: string) => s3Client({ ...server, accessKey, secretKey });
const buckets = (accessKey: string, secretKey: string) =>
  clientOf(accessKey, secretKey).send(new ListBucketsCommand({}));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-rotated-'));
  await former('root\nformer-password');
  server = await startServer({ env: { SVC_ROOT_FORMER_FILE: join(folder, 'former') } });
  await untilReady(server);
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a server whose root credentials are being rotated', () => {
  it('takes requests signed with either', async () => {
    await buckets('root', 'root-password');
    await buckets('root', 'former-password');
    expect((await refusal(buckets('root', 'another-password'))).code).toBe('SignatureDoesNotMatch');
  });

  it('answers admin calls in the words of who asks: encrypted under the key that they were signed with', async () => {
    for (const secretKey of ['root-password', 'former-password']) {
      const endpoint = { address: new URL(server.s3).host, tls: false, accessKey: 'root', secretKey };
      const call = { method: 'PUT', path: 'v3/add-user', query: { accessKey: 'someone' }, sealed: 'body' } as const;
      await callAdmin(endpoint, { ...call, body: { secretKey: 'some-secret' } }, () => new Date());
      const list = { method: 'GET', path: 'v3/list-users', sealed: 'answer' } as const;
      expect(await callAdmin(endpoint, list, () => new Date())).toHaveProperty('someone');
    }
  });

  it('lets Prometheus read by a token of before', async () => {
    for (const [password, status] of [
      ['root-password', 200],
      ['former-password', 200],
      ['another-password', 403],
    ] as const) {
      const authorization = `Bearer ${scrapeToken('root', password)}`;
      const answer = await fetch(`${server.s3}/minio/v2/metrics/cluster`, { headers: { authorization } });
      await answer.arrayBuffer();
      expect(answer.status).toBe(status);
    }
  });

  it('takes a former user of another name, until the file is emptied', async () => {
    await former('earlier-root\nformer-password\n');
    await untilReadAgain();
    await buckets('earlier-root', 'former-password');
    await former('');
    await untilReadAgain();
    expect((await refusal(buckets('earlier-root', 'former-password'))).code).toBe('InvalidAccessKeyId');
    expect((await refusal(buckets('root', 'former-password'))).code).toBe('SignatureDoesNotMatch');
    await buckets('root', 'root-password');
  });
});

/** Every thread of the server looks again once what it read is a second old. */
const untilReadAgain = () => sleep(1_100);
