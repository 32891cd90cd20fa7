import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer } from 'node:https';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { listen } from '../http/listen.ts';
import { issueCertificate } from '../tls/issue-certificate.ts';
import { exchange } from './exchange.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let answers: Answer[];
let url: URL;
let ca: string;
let agent: Agent;
let close: () => void;

beforeAll(async () => {
  const { certPem, keyPem } = await issueCertificate({
    commonName: 'service',
    ipAddresses: ['127.0.0.1'],
    validForMs: 3_600_000,
  });
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    (answers.shift() ?? ok)(request, response);
  });
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, { setting: '' });
  url = new URL(`https://127.0.0.1:${port}/v1/ready`);
  ca = certPem;
  close = () => server.close().closeAllConnections();
});
beforeEach(() => {
  answers = [];
  agent = new Agent({ ca, keepAlive: true, maxSockets: 1 });
});
afterEach(() => {
  vi.useRealTimers();
  agent.destroy();
});
afterAll(() => close());

const ok: Answer = (_, response) => response.end('ok');
const call = () => exchange({ url, method: 'GET', body: undefined, agent, timeoutMs: 15_000 });

describe('a call that gets the connection of the call before it', () => {
  it('has the time of a call for its answer, and not that of a new connection', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const arrived = Promise.withResolvers<ServerResponse>();
    answers = [ok, (_, response) => arrived.resolve(response)];
    const calls = Promise.allSettled([call(), call()]);
    const response = await arrived.promise;
    vi.advanceTimersByTime(3000);
    response.end('late');
    expect(await calls).toMatchObject([{ value: 'ok' }, { value: 'late' }]);
  });

  it('is sent again where the service has closed the connection', async () => {
    answers = [ok, (request) => request.socket.destroy(), ok];
    expect(await Promise.all([call(), call()])).toEqual(['ok', 'ok']);
  });

  it('leaves no listener on the connection', async () => {
    let listeners = 0;
    agent.on('free', (socket: Socket) => {
      listeners = socket.listenerCount('secureConnect') + socket.listenerCount('close');
    });
    await call();
    const afterOne = listeners;
    await Promise.all([call(), call(), call()]);
    expect(listeners).toBe(afterOne);
  });
});
