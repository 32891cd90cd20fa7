import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Bodies } from '../loads/objects.ts';
import { type Drive, drive, type Driven } from './drive.ts';
import { RequestRing, type RingRequest } from './request-ring.ts';
import { RequestSigner } from './request-signer.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function against(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  requests: readonly RingRequest[],
  options: Partial<Drive> = {},
): Promise<Driven> {
  const started = createServer(answer);
  server = started;
  await new Promise<void>((resolve) => {
    started.listen(0, '127.0.0.1', resolve);
  });
  const { port } = started.address() as AddressInfo;
  const endpoint = { host: '127.0.0.1', port, accessKey: 'key', secretKey: 'secret', region: 'us-east-1' };
  const ring = new RequestRing(requests, new RequestSigner(endpoint, new Date()));
  return drive({ address: endpoint, ring, connections: 3, milliseconds: 60_000, repeat: false, ...options });
}

function put(number: number, bodies: Bodies): RingRequest {
  const { size: length, tail } = bodies;
  return { method: 'PUT', path: `/b/${number}`, query: '', length, stamp: bodies.stamp(number), tail };
}

describe('a drive', () => {
  it.each([4_096, 300_000])('sends each request once, with its own body of %i bytes', async (size) => {
    const bodies = new Bodies(size);
    const wrong: string[] = [];
    const seen = new Set<string>();
    const driven = await against(
      (request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const path = request.url ?? '';
          seen.add(path);
          if (!bodies.matches(Number(path.slice(3)), Buffer.concat(chunks))) wrong.push(path);
          response.end();
        });
      },
      Array.from({ length: 20 }, (_, number) => put(number, bodies)),
    );
    expect({ wrong, seen: seen.size }).toEqual({ wrong: [], seen: 20 });
    expect(driven).toMatchObject({ operations: 20, bytesSent: 20 * size, failures: new Map() });
    expect(driven.latencies).toHaveLength(20);
  });

  it('goes through the requests again until the time is over', async () => {
    const get: RingRequest = { method: 'GET', path: '/b/k', query: '', length: 0, answers: 2 };
    const driven = await against((_, response) => response.end('ok'), [get], { repeat: true, milliseconds: 200 });
    expect(driven.operations).toBeGreaterThan(3);
    expect(driven.failures.size).toBe(0);
  });

  it.each([
    ['a status that is not 2xx', 'status 503', (response: ServerResponse) => response.writeHead(503).end()],
    ['another length', 'wrong length', (response: ServerResponse) => response.end('longer')],
  ])('counts %s as a failure', async (_, failure, answer) => {
    const get: RingRequest = { method: 'GET', path: '/b/k', query: '', length: 0, answers: 2 };
    const driven = await against((_request, response) => void answer(response), [get, get]);
    expect(driven.failures).toEqual(new Map([[failure, 2]]));
  });

  it('counts a connection that breaks as a failure, and goes on', async () => {
    let first = true;
    const get: RingRequest = { method: 'GET', path: '/b/k', query: '', length: 0 };
    const driven = await against(
      (request, response) => {
        if (first) request.socket.destroy();
        else response.end();
        first = false;
      },
      [get, get, get],
      { connections: 1 },
    );
    expect(driven.operations).toBe(2);
    expect([...driven.failures.values()]).toEqual([1]);
  });

  it('goes on over a new connection after a server has closed one', async () => {
    const get: RingRequest = { method: 'GET', path: '/b/k', query: '', length: 0 };
    const driven = await against(
      (_, response) => response.setHeader('connection', 'close').end('ok'),
      [get, get, get, get],
      { connections: 2 },
    );
    expect(driven).toMatchObject({ operations: 4, failures: new Map() });
  });
});
