import { EventEmitter, once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, get as getSecurely } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../tls/issue-certificate.ts';
import { Connections } from './connections.ts';

const open: { readonly server: Server; readonly agent: Agent }[] = [];
afterEach(() => {
  for (const { server, agent } of open.splice(0)) {
    server.closeAllConnections();
    agent.destroy();
  }
});

async function serve(answer: RequestListener) {
  const server = createServer((request, response) => {
    connections.began(request.socket, response);
    answer(request, response);
  });
  const connections = new Connections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  open.push({ server, agent });
  const ask = async (): Promise<{ readonly body: string; readonly connection: string | undefined }> => {
    const request = get({ host: '127.0.0.1', port, agent });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { body: await text(response), connection: response.headers.connection };
  };
  return { connections, port, ask };
}

describe('closed connections', () => {
  it('are collected from time to time, because V8 does not count what Node keeps of them', () => {
    const collections: string[] = [];
    const server = createServer();
    const connections = new Connections(server, (type) => collections.push(type));
    expect(connections.closing).toBe(false);
    for (let closed = 1; closed <= 10_000; closed++) {
      const socket = new EventEmitter();
      server.emit('connection', socket);
      expect(collections.length).toBe(Math.floor((closed - 1) / 2048));
      socket.emit('close');
    }
    expect(collections).toEqual(['major', 'major', 'major', 'major']);
  });
});

describe('a server that stops', () => {
  it('answers on, each answer ending its connection, until it is drained', async () => {
    const { connections, ask } = await serve((_, response) => response.end('served'));
    expect(await ask()).toEqual({ body: 'served', connection: 'keep-alive' });
    connections.startClosing();
    for (let i = 0; i < 3; i++) expect(await ask()).toEqual({ body: 'served', connection: 'close' });
    await connections.drain(5000);
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('answers what comes over a kept connection right after it stopped listening', async () => {
    const { connections, ask } = await serve((_, response) => response.end('served'));
    await ask();
    const drained = connections.drain(5000);
    expect(await ask()).toEqual({ body: 'served', connection: 'close' });
    await drained;
  });

  it('waits for the request under way, whose answer ends its connection', async () => {
    const begun = Promise.withResolvers<() => void>();
    const { connections, ask } = await serve((_, response) => begun.resolve(() => response.end('late')));
    const answered = ask();
    const finish = await begun.promise;
    const drained = connections.drain(5000);
    finish();
    expect(await answered).toEqual({ body: 'late', connection: 'close' });
    await drained;
  });

  it('does not wait for idle connections, nor for those that never asked anything', async () => {
    const { connections, ask, port } = await serve((_, response) => response.end());
    await ask();
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    const closed = once(silent, 'close');
    // Without an end it would wait for the grace, which is longer than any test.
    await connections.drain(3_600_000);
    await closed;
  });

  it('does not wait for a handshake that nobody goes on with, while a secure connection is served', async () => {
    const { certPem, keyPem } = await issueCertificate({ commonName: 'test', validForMs: 3_600_000 });
    const begun = Promise.withResolvers<() => void>();
    const server = createSecureServer({ cert: certPem, key: keyPem }, (request, response) => {
      connections.began(request.socket, response);
      begun.resolve(() => response.end('late'));
    });
    const connections = new Connections(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    const gone = once(silent, 'close');
    const request = getSecurely({ host: '127.0.0.1', port, rejectUnauthorized: false });
    const finish = await begun.promise;
    const drained = connections.drain(3_600_000);
    await gone;
    finish();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect([await text(response), response.headers.connection]).toEqual(['late', 'close']);
    await drained;
  });

  it('cuts what is still under way after the grace', async () => {
    const begun = Promise.withResolvers<void>();
    const { connections, ask } = await serve(() => begun.resolve());
    const failed = expect(ask()).rejects.toMatchObject({ code: 'ECONNRESET' });
    await begun.promise;
    await connections.drain(10);
    await failed;
  });
});
