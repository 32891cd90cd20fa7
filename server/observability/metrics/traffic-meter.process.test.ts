import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { TrafficMeter } from './traffic-meter.ts';

const server = createServer((_request, response) => response.end('hello'));
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('the traffic of a server', () => {
  it('is counted once, while a connection is open and when it ends', async () => {
    let [received, sent] = [0, 0];
    const meter = new TrafficMeter(server, {
      moved(more, and) {
        received += more;
        sent += and;
      },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const request = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n';
    client.write(request);
    await once(client, 'data');
    meter.look();
    meter.look();
    expect(received).toBe(request.length);
    client.write(request);
    await once(client, 'data');
    client.end();
    await once(client, 'close');
    await expect.poll(() => received).toBe(2 * request.length);
    expect(sent).toBe(client.bytesRead);
    meter.close();
  });
});
