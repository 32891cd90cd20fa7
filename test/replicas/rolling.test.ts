import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

const Bucket = 'bucket';
const env = { SVC_SHUTDOWN_DELAY: '1s', SVC_SHUTDOWN_REFUSAL: '1s' };
let deployment: Deployment;
/** What a load balancer has: the servers that are ready. */
let servers: { readonly server: RunningServer; readonly client: S3Client }[];

const started = async () => {
  const server = await deployment.start(env);
  return { server, client: s3Client(server) };
};

beforeAll(async () => {
  deployment = await newDeployment();
  servers = [await started(), await started(), await started()];
  await servers[0]?.client.send(new CreateBucketCommand({ Bucket }));
}, 540_000);
afterAll(() => deployment.remove());

/** As clients do: some attempts, each at another server. */
async function retrying<T>(what: string, turn: number, attempt: (client: S3Client) => Promise<T>): Promise<T> {
  const failures: unknown[] = [];
  for (let tries = 0; tries < 6; tries += 1) {
    const chosen = servers[(turn + tries) % servers.length];
    try {
      if (chosen !== undefined) return await attempt(chosen.client);
    } catch (error) {
      failures.push(error);
      await sleep(100 * 2 ** tries);
    }
  }
  throw new AggregateError(failures, `${what} failed at every server: ${failures.map(String).join('; ')}`);
}

describe('three servers that are replaced one by one under load', { timeout: 300_000 }, () => {
  it('fail no request of clients that try again', async () => {
    const over = new AbortController();
    let requests = 0;
    const clients = Array.from({ length: 6 }, async (_, who) => {
      for (let count = 0; !over.signal.aborted; count += 1) {
        const Key = `${who}/${count % 10}`;
        const Body = `${count} `.repeat(count % 4 === 0 ? 200_000 : 100);
        const turn = who + count;
        await retrying(`PUT ${Key}`, turn, (client) => client.send(new PutObjectCommand({ Bucket, Key, Body })));
        const read = await retrying(`GET ${Key}`, turn + 1, async (client) => {
          const got = await client.send(new GetObjectCommand({ Bucket, Key }));
          return got.Body?.transformToString();
        });
        expect([Key, read === Body]).toEqual([Key, true]);
        await retrying(`DELETE ${Key}`, turn + 2, (client) => client.send(new DeleteObjectCommand({ Bucket, Key })));
        requests += 3;
      }
    });
    const rolled = (async () => {
      for (let place = 0; place < 3; place += 1) {
        const old = servers[place];
        const replacement = await started();
        servers = servers.with(place, replacement);
        expect(await old?.server.stop()).toBe(0);
      }
      over.abort();
    })();
    // Whichever fails first says why.
    await Promise.all([rolled, ...clients]);
    expect(requests).toBeGreaterThan(100);
  });
});
