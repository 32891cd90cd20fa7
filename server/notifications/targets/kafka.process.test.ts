import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import type { EventMessage } from '../event-message.ts';
import { openKafka } from './kafka.ts';

const message: EventMessage = { name: 's3:ObjectCreated:Put', key: 'b/k', time: '2026-01-01T00:00:00Z', body: '{}' };
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

it.runIf(hasIpv6)('an address of IPv6 in brackets is the address of a broker', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, '::1');
  await once(server, 'listening');
  const brokers = `[::1]:${(server.address() as AddressInfo).port}`;
  const target = openKafka({ brokers, topic: 'events' });
  await expect(target.send(message)).rejects.toThrow();
  await target.close();
  server.close();
  expect(connections).toBeGreaterThan(0);
});
