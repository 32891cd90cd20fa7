import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ env: { SVC_THREADS: '2' } });
  await untilReady(server);
});
afterAll(() => server?.stop());

async function scrape(group: string, secret = server.secretKey): Promise<Response> {
  const token = new SignJWT().setProtectedHeader({ alg: 'HS512' }).setIssuer('prometheus').setSubject(server.accessKey);
  // A connection of its own each time: the kernel gives it to any of the threads.
  const headers = { authorization: `Bearer ${await token.sign(Buffer.from(secret))}`, connection: 'close' };
  return fetch(`${server.s3}/minio/v2/metrics/${group}`, { headers });
}

async function values(group = 'cluster'): Promise<ReadonlyMap<string, number>> {
  const text = await (await scrape(group)).text();
  const samples = text.split('\n').flatMap((line) => /^(\w+(?:\{.*\})?) (\S+)$/.exec(line) ?? []);
  const pairs: [string, number][] = [];
  for (let at = 0; at < samples.length; at += 3) {
    const name = (samples[at + 1] ?? '').replace(/,?server="[^"]*"/, '').replace('{}', '');
    pairs.push([name, Number(samples[at + 2])]);
  }
  return new Map(pairs);
}

describe('the metrics of a running server', () => {
  it('are the sums of all its threads, whichever answers', async () => {
    const s3 = s3Client(server);
    await s3.send(new CreateBucketCommand({ Bucket: 'measured' }));
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    // At once, so on many connections, so on both threads.
    await Promise.all(keys.map((Key) => s3.send(new PutObjectCommand({ Bucket: 'measured', Key, Body: 'content' }))));
    await Promise.allSettled(
      keys.map((Key) => s3.send(new GetObjectCommand({ Bucket: 'measured', Key: `${Key}-none` }))),
    );
    const all = await Promise.all(Array.from({ length: 8 }, () => values()));
    for (const found of all) {
      expect(found.get('minio_s3_requests_total{api="putobject"}')).toBe(20);
      expect(found.get('minio_s3_requests_4xx_errors_total{api="getobject"}')).toBe(20);
      expect(found.get('minio_s3_requests_inflight_total{api="putobject"}')).toBe(0);
      expect(found.get('minio_s3_ttfb_seconds_distribution_count{api="putobject"}')).toBe(20);
      expect(found.get('minio_cluster_bucket_total')).toBe(1);
      expect(found.get('minio_cluster_health_status')).toBe(1);
    }
  });
  it('tell buckets apart, of all threads', async () => {
    const puts = 'minio_bucket_requests_total{api="putobject",bucket="measured"}';
    // Requests to a new bucket are counted when the list of buckets was read again.
    await expect.poll(async () => (await values('bucket')).get(puts), { timeout: 60_000 }).toBe(20);
    const all = await Promise.all(Array.from({ length: 4 }, () => values('bucket')));
    for (const found of all) {
      expect(found.get(puts)).toBe(20);
      expect(found.get('minio_bucket_traffic_received_bytes{bucket="measured"}')).toBeGreaterThanOrEqual(20 * 7);
    }
  });
  it('count traffic, also while it goes', async () => {
    await expect.poll(async () => (await values()).get('minio_s3_traffic_received_bytes')).toBeGreaterThan(20 * 7);
    expect((await values()).get('minio_s3_traffic_sent_bytes')).toBeGreaterThan(0);
  });
  it('count those who are not known', async () => {
    const stranger = s3Client({ ...server, secretKey: 'another-password' });
    await expect(stranger.send(new GetObjectCommand({ Bucket: 'measured', Key: 'k0' }))).rejects.toThrow(/signature/);
    expect((await values()).get('minio_s3_requests_rejected_auth_total')).toBe(1);
  });
  it('tell what the process uses', async () => {
    const found = await values('node');
    expect(found.get('minio_node_process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(found.get('minio_node_process_starttime_seconds')).toBeGreaterThan(1_700_000_000);
  });
  it('are refused without a token of the root credentials, and say how to make one', async () => {
    const answer = await scrape('cluster', 'another-password');
    expect(answer.status).toBe(403);
    expect(await answer.text()).toMatch(/mc admin prometheus generate/);
    expect((await fetch(`${server.s3}/minio/v2/metrics/cluster`)).status).toBe(403);
  });
  it.each(['/minio/metrics/v3', '/minio/metrics/v3/api/requests', '/minio/prometheus/metrics'])(
    'name the paths to scrape at %s',
    async (path) => {
      const answer = await fetch(`${server.s3}${path}`);
      expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('/minio/v2/metrics/cluster')]);
    },
  );

  it('are only read', async () => {
    expect((await fetch(`${server.s3}/minio/v2/metrics/cluster`, { method: 'POST' })).status).toBe(405);
  });
});

it('gives its metrics to everybody where it is told to, by the name of MinIO too', async () => {
  const open = await startServer({ env: { MINIO_PROMETHEUS_AUTH_TYPE: 'public', SVC_THREADS: '1' } });
  try {
    await untilReady(open);
    const answer = await fetch(`${open.s3}/minio/v2/metrics/cluster`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    await answer.text();
  } finally {
    await open.stop();
  }
});
