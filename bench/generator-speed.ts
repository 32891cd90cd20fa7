/**
 * Measures the generator: `node bin/run.js bench/generator-speed.ts`. It sends requests to a server in another process that only answers,
 * and prints the processor time of a request and the number of requests that one core can send.
 */
import { fork } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Bodies, Objects } from './loads/objects.ts';
import { drive } from './generator/drive.ts';
import { RequestRing } from './generator/request-ring.ts';
import { RequestSigner } from './generator/request-signer.ts';

const inServer = 'answer';
const size = 4_096;

if (process.argv[2] === inServer) answerAll();
else await measure();

/** Answers when the last bytes of a request arrive, which are one read in this benchmark. */
function answerAll(): void {
  const body = Buffer.alloc(size, 'x');
  const got = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`), body]);
  const put = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('data', (bytes) => socket.write(bytes[0] === 0x50 ? put : got));
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' ? address?.port : undefined);
  });
  process.on('disconnect', () => process.exit());
}

async function measure(): Promise<void> {
  const server = fork(fileURLToPath(import.meta.url), [inServer]);
  const port = await new Promise<number>((resolve) => {
    server.once('message', (message) => resolve(Number(message)));
  });
  const endpoint = { host: '127.0.0.1', port, accessKey: 'key', secretKey: 'secret', region: 'us-east-1' };
  const objects = new Objects('speed', 20_000, new Bodies(size));
  for (const method of ['get', 'put'] as const) {
    const signing = process.cpuUsage();
    const ring = new RequestRing(
      objects.all((number) => objects[method](number)),
      new RequestSigner(endpoint, new Date()),
    );
    const signed = cpuMicroseconds(signing) / ring.length;
    for (const connections of [1, 32, 256]) {
      const before = process.cpuUsage();
      const driven = await drive({ address: endpoint, ring, connections, milliseconds: 3_000, repeat: true });
      const each = cpuMicroseconds(before) / driven.operations;
      process.stdout.write(
        `${method} of 4 KiB at ${connections}: ${each.toFixed(1)} µs of processor time each, ${Math.round(1e6 / each)}/s on a core; ` +
          `${Math.round((driven.operations / driven.milliseconds) * 1000)}/s reached with the server; signing took ${signed.toFixed(1)} µs each\n`,
      );
    }
  }
  server.disconnect();
}

function cpuMicroseconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}
