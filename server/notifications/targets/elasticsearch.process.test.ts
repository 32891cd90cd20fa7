import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NotificationTarget } from '../target.ts';
import { openElasticsearch } from './elasticsearch.ts';

let server: Server;
let target: NotificationTarget;
let status = 200;
const requests: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(status).end(request.method === 'HEAD' ? undefined : '{"result":"updated"}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  target = openElasticsearch({ url, index: 'events', format: 'namespace' });
});
beforeEach(() => {
  status = 200;
  requests.length = 0;
});
afterAll(async () => {
  await target.close();
  server.closeAllConnections();
  server.close();
});

const event = { key: 'bucket/key', name: 's3:ObjectRemoved:Delete', record: {} };
const unchanged = { ...event, current: 'unchanged' } as unknown as Parameters<NotificationTarget['send']>[0];

describe('Elasticsearch', () => {
  it('answers a probe, and gets no document for it', async () => {
    await target.reach?.();
    expect(requests).toEqual(['HEAD /events']);
  });

  it.each([401, 403, 500, 503])('that answers %i to a probe is away', async (answered) => {
    status = answered;
    await expect(target.reach?.()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is asked for each event that changes no document, so that the event shows whether the target is away', async () => {
    await target.send(unchanged);
    requests.length = 0;
    await target.send(unchanged);
    expect(requests).toEqual(['HEAD /events']);
    status = 503;
    await expect(target.send(unchanged)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
