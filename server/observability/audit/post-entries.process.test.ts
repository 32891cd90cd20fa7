import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { postEntries } from './webhook-target.ts';

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

async function postTo(listener: RequestListener) {
  server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const settings = { id: '_', endpoint, batchSize: 1, timeoutMs: 1_000, maxRetries: 0, queueSize: 1, retryMs: 1 };
  return postEntries(settings, { deploymentId: () => 'id', version: '1' });
}

/** Answers after the header that the service has sent. */
const answers: Readonly<Record<string, (status: number) => RequestListener>> = {
  'is longer than the limit': (status) => (_request, response) => response.writeHead(status).end('a'.repeat(70_000)),
  'never ends': (status) => (_request, response) => void response.writeHead(status).write('a'),
  'breaks off': (status) => (_request, response) => {
    response.writeHead(status, { 'content-length': '9' }).write('a', () => setTimeout(() => response.destroy(), 20));
  },
};

describe.each(Object.entries(answers))('an answer to audit entries that %s', (_what, answer) => {
  it('takes them by the status 200', async () => {
    const post = await postTo(answer(200));
    await expect(post(['{}'])).resolves.toBeUndefined();
  });

  it('refuses them by the status 413', async () => {
    const post = await postTo(answer(413));
    await expect(post(['{}'])).rejects.toMatchObject({ code: 'rejected', status: 413 });
  });
});
