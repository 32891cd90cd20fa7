import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerFailure } from '../../server/process/dispatch.ts';
import { notServing } from '../../server/http/contract/not-serving.ts';
import { runCoffer } from '../support/server/run-coffer.ts';

let folder: string;
let server: Server;
let url: string;
/** Requests that are answered as by a server that waits for its key service. */
let refused = Infinity;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-not-ready-'));
  server = createServer((request, response) => {
    refused -= 1;
    if (refused < 0) {
      response.end('<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>');
      return;
    }
    const { method = '', url: rawPath = '' } = request;
    const asked = { method, rawPath, rawQuery: '', headers: {}, requestId: 'one' };
    const { status, headers, body } = answerFailure(
      notServing('key-service'),
      asked as Parameters<typeof answerFailure>[1],
    );
    const isProbe = rawPath.startsWith('/minio/health/');
    response.writeHead(status, headers);
    response.end(body.kind === 'bytes' && !isProbe ? body.bytes : undefined);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  refused = Infinity;
});

const waiting = 'it waits for the key service';

async function coffer(...args: string[]) {
  return runCoffer(['--config-dir', folder, ...args], { env: { MC_HOST_w: `http://access:secretsecret@${url}` } });
}

describe('a server that waits for its key service', () => {
  it.each([
    ['ready', ['ready', 'w']],
    ['ls', ['ls', 'w']],
    ['stat', ['stat', 'w/bucket']],
  ])(
    'is told so by %s',
    async (_, args) => {
      const { code, stderr } = await coffer(...args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(waiting)]);
    },
    120_000,
  );

  it('is asked again, and the user learns why after a while', async () => {
    refused = 3;
    const { code, stderr } = await coffer('ls', 'w');
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`<WARNING> http://${url} is asked again: The server is not ready: ${waiting}`),
    ]);
    expect(stderr.match(/WARNING/g)).toHaveLength(1);
  });

  it('is asked a second time without a word', async () => {
    refused = 2;
    expect(await coffer('ls', 'w')).toMatchObject({ code: 0, stderr: '' });
  });
});
