import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NotificationTarget } from '../target.ts';
import { openWebhook } from './webhook.ts';

let server: Server;
let target: NotificationTarget;
let status = 200;

beforeAll(async () => {
  server = createServer((_, response) => response.writeHead(status, { location: '/elsewhere' }).end('<html></html>'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  target = openWebhook({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
});
afterAll(async () => {
  await target.close();
  server.closeAllConnections();
  server.close();
});

const sent = async (answered: number): Promise<string> => {
  status = answered;
  try {
    await target.send({ body: '{}' } as Parameters<NotificationTarget['send']>[0]);
    return 'sent';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('an event that a webhook answers', () => {
  it.each([200, 201, 202, 204, 299])('by %i is delivered', async (answered) => {
    expect(await sent(answered)).toBe('sent');
  });

  it.each([400, 413, 422])('by %i is held back alone', async (answered) => {
    expect(await sent(answered)).toBe('rejected');
  });

  it('by any other status waits', async () => {
    const others = Array.from({ length: 300 }, (_, at) => 300 + at).filter((code) => ![400, 413, 422].includes(code));
    const outcomes = new Set<string>();
    for (const other of others) outcomes.add(await sent(other));
    expect([...outcomes]).toEqual(['unavailable']);
  });
});
