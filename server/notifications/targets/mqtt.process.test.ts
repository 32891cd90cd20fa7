import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { EventMessage } from '../event-message.ts';
import { openMqtt } from './mqtt.ts';

let server: Server | undefined;
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server?.close();
});

/** A broker. `answer` answers each client of version 5, those of MQTT 3.1.1 are taken. Keeps the versions that clients asked for. */
async function broker(answer: (socket: Socket, connections: number) => void, { endsAtPublication = false } = {}) {
  const versions: number[] = [];
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (packet: Buffer) => {
      const kind = (packet[0] ?? 0) >> 4;
      // The name of the protocol is before its version.
      if (kind === 1) {
        const version = packet[8] ?? 0;
        versions.push(version);
        if (version === 4) socket.write(Buffer.from([0x20, 2, 0, 0]));
        else answer(socket, versions.length);
      }
      if (kind === 3 && (packet[0] ?? 0) === 0x30) {
        // A publication with quality of service 0 has no answer.
        if (endsAtPublication) socket.destroy();
        else if (packet.at(-2) === 0xc0) socket.write(Buffer.from([0xd0, 0]));
      } else if (kind === 12) socket.write(Buffer.from([0xd0, 0]));
      else if (kind === 3) {
        const topicBytes = packet.readUInt16BE(2);
        socket.write(Buffer.concat([Buffer.from([0x40, 2]), packet.subarray(4 + topicBytes, 6 + topicBytes)]));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { versions, url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const takeClient = (socket: Socket) => void socket.write(Buffer.from([0x20, 3, 0, 0, 0]));

const message: EventMessage = { name: 's3:ObjectCreated:Put', key: 'b/k', time: '2026-01-01T00:00:00Z', body: '{}' };

it.each<[string, readonly number[], (socket: Socket) => void]>([
  ['refuses the version of a client', [5, 4], (socket) => socket.end(Buffer.from([0x20, 2, 0, 1]))],
  ['closes each connection of a client of a later version', [5, 5, 4], (socket) => socket.destroy()],
])('a broker of MQTT 3.1.1 that %s gets the events in its version', async (_what, asked, refuse) => {
  const { versions, url } = await broker(refuse);
  const target = openMqtt({ broker: url, topic: 'events', qos: 1 });
  await target.send(message);
  await target.send(message);
  await target.close();
  expect(versions).toEqual(asked);
});

it('a broker of MQTT 5 that closes a connection while it starts gets the events in its version', async () => {
  const { versions, url } = await broker((socket, connections) => {
    if (connections === 1) socket.destroy();
    else socket.write(Buffer.from([0x20, 3, 0, 0, 0]));
  });
  const target = openMqtt({ broker: url, topic: 'events', qos: 1 });
  await target.send(message);
  await target.close();
  expect(versions).toEqual([5, 5]);
});

it('a broker that ends the connection for an event with quality of service 0 has not taken it', async () => {
  const { url } = await broker(takeClient, { endsAtPublication: true });
  const target = openMqtt({ broker: url, topic: 'events', qos: 0 });
  await expect(target.send(message)).rejects.toMatchObject({ code: 'unavailable' });
  await target.close();
});

it('a broker that answers after an event with quality of service 0 has taken it', async () => {
  const { url } = await broker(takeClient);
  const target = openMqtt({ broker: url, topic: 'events', qos: 0 });
  await target.send(message);
  await target.close();
});

it('an answer that cannot be read is not a refusal of the version', async () => {
  const { versions, url } = await broker((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const target = openMqtt({ broker: url, topic: 'events', qos: 1 });
  await expect(target.send(message)).rejects.toThrow();
  await target.close();
  expect(versions).toEqual([5]);
});
