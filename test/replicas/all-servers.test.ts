import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readZip } from '../../server/administration/zip.ts';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

const Bucket = 'seen';
let deployment: Deployment;
let asked: RunningServer;
let other: RunningServer;

beforeAll(async () => {
  deployment = await newDeployment();
  asked = await deployment.start();
  other = await deployment.start();
  await s3Client(asked).send(new CreateBucketCommand({ Bucket }));
}, 540_000);
afterAll(() => deployment.remove());

const hostOf = ({ s3 }: RunningServer) => new URL(s3).host;

async function servers(server: RunningServer): Promise<number> {
  const { value } = await adminCall(server.s3, server, 'GET', 'metrics?types=128&n=1');
  return (value as { hosts: string[] }[])[0]?.hosts.length ?? 0;
}

/** Follows a call of the first server until `isDone`, and returns the lines. */
async function followed<T>(
  target: string,
  isDone: (lines: readonly T[]) => boolean,
  meanwhile: () => Promise<unknown>,
): Promise<readonly T[]> {
  const ended = new AbortController();
  const answer = await sign(target, 'GET', ended.signal);
  const lines: T[] = [];
  let rest = '';
  const stir = setInterval(() => void meanwhile().catch(() => undefined), 200);
  try {
    for await (const chunk of answer.body ?? []) {
      const texts = (rest + Buffer.from(chunk as Uint8Array).toString()).split('\n');
      rest = texts.pop() ?? '';
      lines.push(...texts.filter((text) => text.trim() !== '').map((text) => JSON.parse(text) as T));
      if (isDone(lines)) return lines;
    }
    return lines;
  } finally {
    clearInterval(stir);
    ended.abort();
  }
}

function sign(target: string, method: string, signal: AbortSignal): Promise<Response> {
  const [path = '', rawQuery = ''] = target.split('?');
  const rawPath = `/minio/admin/v3/${path}`;
  const headers = signRequest({ method, rawPath, rawQuery, headers: { host: hostOf(asked) } }, asked, {
    region: 'us-east-1',
    service: 's3',
    now: new Date(),
    payloadHash: 'UNSIGNED-PAYLOAD',
  });
  return fetch(`${asked.s3}${rawPath}?${rawQuery}`, { method, headers, signal });
}

interface TraceLine {
  readonly nodename: string;
  readonly msg?: string;
  readonly path?: string;
}

const put = (server: RunningServer) => () =>
  s3Client(server).send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'x' }));

describe('a call of one of two servers', { timeout: 360_000 }, () => {
  it('sums the network of both', async () => {
    await expect.poll(() => servers(asked), { timeout: 180_000 }).toBe(2);
  });

  it('traces the requests of both', async () => {
    const nodes = (lines: readonly TraceLine[]) => new Set(lines.map(({ nodename }) => nodename));
    const lines = await followed<TraceLine>(
      'trace?s3=true',
      (seen) => nodes(seen).size === 2,
      () => Promise.all([put(asked)(), put(other)()]),
    );
    expect([...nodes(lines)].toSorted()).toEqual([hostOf(asked), hostOf(other)].toSorted());
  });

  it('traces those of the named one alone', async () => {
    const lines = await followed<TraceLine>(
      `trace?node=${encodeURIComponent(hostOf(other))}&s3=true`,
      (seen) => seen.length >= 3,
      () => Promise.all([put(asked)(), put(other)()]),
    );
    expect(new Set(lines.map(({ nodename }) => nodename))).toEqual(new Set([hostOf(other)]));
  });

  it('shows the logs of both', async () => {
    interface LogLine {
      readonly node: string;
      readonly message?: string;
    }
    const ready = (lines: readonly LogLine[]) =>
      lines.filter(({ message }) => message === 'ready').map(({ node }) => node);
    const lines = await followed<LogLine>(
      'log?logType=all',
      (seen) => new Set(ready(seen)).size === 2,
      () => Promise.resolve(),
    );
    expect(ready(lines).toSorted()).toEqual([hostOf(asked), hostOf(other)].toSorted());
  });

  it('shows the logs of both in the console', async () => {
    const guard = { 'content-type': 'application/json', 'x-coffer-console': '1' };
    const body = JSON.stringify({ accessKey: asked.accessKey, secretKey: asked.secretKey });
    const signedIn = await fetch(`${asked.console}/api/sign-in`, { method: 'POST', headers: guard, body });
    const cookie = signedIn.headers.getSetCookie().map((set) => set.split(';')[0]);
    const ended = new AbortController();
    const answer = await fetch(`${asked.console}/api/admin/log?limit=500`, {
      headers: { ...guard, cookie: cookie.join('; ') },
      signal: ended.signal,
    });
    const nodes = new Set<string>();
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      for (const [, node = ''] of text.matchAll(/"node":"([^"]+)"/g)) nodes.add(node);
      if (nodes.size === 2) break;
    }
    ended.abort();
    expect([...nodes].toSorted()).toEqual([hostOf(asked), hostOf(other)].toSorted());
  });

  it('refuses a name that no server has', async () => {
    const { status, value } = await adminCall(asked.s3, asked, 'GET', 'log?node=elsewhere');
    expect([status, JSON.stringify(value)]).toEqual([400, expect.stringContaining('no running server')]);
  });

  it('has a folder of profiles for each', async () => {
    const answer = await sign('profile?duration=1s&profilerType=cpu', 'POST', AbortSignal.timeout(60_000));
    expect(answer.status).toBe(200);
    const files = await readZip(Buffer.from(await answer.arrayBuffer()), { entries: 100, size: 2 ** 28 });
    const folders = new Set(files.map(({ name }) => name.split('/')[0]));
    expect(folders).toEqual(new Set([asked, other].map((server) => hostOf(server).replace(':', '_'))));
    expect(files.map(({ name }) => name)).not.toContainEqual(expect.stringContaining('MISSING'));
  });

  it('says that the other one was killed, and goes on with those that are there', async () => {
    await other.kill();
    const lines = await followed<TraceLine>(
      'trace?s3=true',
      (seen) => seen.some(({ msg }) => msg !== undefined),
      put(asked),
    );
    expect(lines.find(({ msg }) => msg !== undefined)).toMatchObject({
      nodename: hostOf(other),
      msg: expect.stringMatching(/its requests are not shown: .*cannot be asked/),
    });
  });
});
