// A client process of `npm run bench:anonymous`. All clients are pinned to one core. The first argument holds the options; the process
// prints one line of JSON at its end.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type ClientKind = 'hostile' | 'valid' | 'gets' | 'probes';

export interface ClientOptions {
  readonly kind: ClientKind;
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** The minimum interval of a connection's requests in milliseconds. */
  readonly paceMs: number;
}

export interface ClientResult {
  readonly requests: number;
  /** Counts by status; `reset` for connections that ended without one. */
  readonly answers: Readonly<Record<string, number>>;
  /** Milliseconds, ascending. */
  readonly latencies: readonly number[];
}

const options = JSON.parse(process.argv[2] ?? '{}') as ClientOptions;
const { hostname, port, host } = new URL(options.url);
const until = performance.now() + options.seconds * 1_000;
const answers: Record<string, number> = {};
const latencies: number[] = [];

/** Bodies that once cost seconds of a thread. The client sends each as far as the server reads. */
const hostileBytes = 8 * 1024 * 1024;
const hostile: readonly { readonly head: string; readonly body: Buffer }[] = [
  ['POST /nowhere?delete', '', '<Delete>', '&#65;'],
  ['POST /public?delete', '', '<Delete', ' a="b"'],
  ['POST /public?delete', '', '', '<Delete>'],
  ['POST /public/key?uploadId=x', '', '<CompleteMultipartUpload>', '<Part/>'],
  ['PUT /public?tagging', '', '<Tagging>', '<!---->x'],
  ['PUT /nowhere', '', '<A>', '&lt;'],
  ['PUT /public/key', '', '', 'x'],
  ['POST /', 'Content-Type: application/x-www-form-urlencoded\r\n', 'Action=AssumeRoleWithWebIdentity', '&a=%41'],
].map(([line = '', headers = '', begin = '', repeated = '']) => {
  const times = Math.floor(hostileBytes / repeated.length);
  const body = Buffer.from(begin + repeated.repeat(times));
  const head = `${line} HTTP/1.1\r\nHost: ${host}\r\n${headers}Content-Length: ${body.length}\r\n\r\n`;
  return { head, body };
});

/** The client opens a new connection, because the server closes it after the refusal. */
function sendHostile(index: number): Promise<string> {
  const { head, body } = hostile[index % hostile.length] ?? { head: '', body: Buffer.alloc(0) };
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('connect', () => {
    socket.write(head);
    socket.write(body);
  });
  socket.on('data', (chunk) => {
    resolve(chunk.toString('latin1', 9, 12));
    socket.destroy();
  });
  socket.on('error', () => resolve('reset'));
  socket.on('close', () => resolve('reset'));
  socket.setTimeout(10_000, () => socket.destroy());
  return promise;
}

const agent = new Agent({ keepAlive: true, maxSockets: options.connections });

function get(path: string, own?: Agent): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const asked = request({ host: hostname, port, path, ...(own && { agent: own }) }, (answer) => {
    answer.resume();
    answer.on('end', () => resolve(String(answer.statusCode)));
    answer.on('error', () => resolve('reset'));
  });
  asked.on('error', () => resolve('reset'));
  asked.end();
  return promise;
}

function send(kind: ClientKind, index: number): Promise<string> {
  switch (kind) {
    case 'hostile':
      return sendHostile(index);
    case 'valid':
    case 'gets':
      return get('/public/object', agent);
    case 'probes':
      return get(index % 2 === 0 ? '/minio/health/live' : '/minio/health/ready');
    default:
      return kind satisfies never;
  }
}

async function connection(index: number): Promise<void> {
  // The connections start at different times.
  await sleep((options.paceMs * index) / options.connections);
  for (let began = performance.now(); began < until; began = performance.now()) {
    const answer = await send(options.kind, index);
    const tookMs = performance.now() - began;
    answers[answer] = (answers[answer] ?? 0) + 1;
    latencies.push(tookMs);
    if (tookMs < options.paceMs) await sleep(options.paceMs - tookMs);
  }
}

await Promise.all(Array.from({ length: options.connections }, (_, index) => connection(index)));
const result: ClientResult = {
  requests: latencies.length,
  answers,
  latencies: latencies.toSorted((a, b) => a - b).map((ms) => Math.round(ms * 100) / 100),
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
