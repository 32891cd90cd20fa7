import type { Agent, IncomingHttpHeaders } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Outgoing } from './exchange.ts';

/**
 * Takes the next bytes of a body. They are valid until the call returns, or until its promise is resolved; the next ones wait for it.
 */
export type BodySink = (bytes: Buffer) => Promise<void> | undefined;

/** A body is received directly if the answer has this status and this length. */
interface ExpectedBody {
  readonly status: 200 | 206;
  readonly length: number;
  readonly onHeaders?: ((headers: IncomingHttpHeaders) => void) | undefined;
}

/**
 * Bytes that are read at once. The parser of Node reads 64 KiB into a new buffer, and copies them. With 256 KiB a download to a slow disk, where
 * each buffer is written by another thread, takes an eighth more time.
 */
const bufferSize = 1_048_576;

/** Bytes. */
const maxHeadSize = 65_536;

const headEnd = Buffer.from('\r\n\r\n');

/** Milliseconds without traffic. */
const idleMs = 120_000;

/**
 * Sends a request without a body on a connection of its own, and hands the body of the answer over without a copy: for 1 GiB this takes
 * 0.6 s of processor time, and `node:http` 4 s. Returns the number of bytes that the sink took. They are fewer than expected, or none, after any
 * other answer or a failure of the connection: the caller then asks for the rest in the ordinary way, which explains and retries.
 *
 * @throws what the sink throws
 */
export async function receiveDirectly(
  outgoing: Outgoing,
  agent: Agent | HttpsAgent,
  signal: AbortSignal,
  expected: ExpectedBody,
  sink: BodySink,
): Promise<number> {
  if (signal.aborted) return 0;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  /** Buffers that neither the socket nor the sink uses. */
  const free: Buffer[] = [];
  /** TLS goes on after a pause with what it has decrypted: at most one read of its socket, in buffers of their own. */
  const later: Read[] = [];
  let head: Buffer | undefined = Buffer.alloc(0);
  let received = 0;
  let isSinkBusy = false;
  let isClosed = false;
  let socket: Socket | undefined;
  const stop = (): void => {
    socket?.destroy();
    resolve(received);
  };
  /** Ends after the sink has taken what came. */
  const end = (): void => {
    isClosed = true;
    if (!isSinkBusy) stop();
  };
  const fail = (error: unknown): void => {
    socket?.destroy();
    reject(error instanceof Error ? error : new Error(String(error)));
  };

  /** Returns false to wait. */
  function take(read: Read): boolean {
    if (isSinkBusy) {
      later.push(read);
      return false;
    }
    const { bytes, buffer } = read;
    // A caller reads no more than was promised.
    const part = bytes.subarray(0, expected.length - received);
    const waiting = part.length === 0 ? undefined : sink(part);
    if (waiting === undefined) {
      count(part.length, buffer);
      return true;
    }
    isSinkBusy = true;
    goOnAfter(waiting, part.length, buffer).catch(fail);
    return false;
  }

  async function goOnAfter(waiting: Promise<void>, length: number, buffer: Buffer): Promise<void> {
    await waiting;
    isSinkBusy = false;
    count(length, buffer);
    for (let next = later.shift(); next !== undefined; next = later.shift()) {
      if (!take(next)) return;
    }
    if (isClosed) stop();
    else socket?.resume();
  }

  function count(length: number, buffer: Buffer): void {
    free.push(buffer);
    received += length;
    if (received === expected.length) stop();
  }

  function onBytes(length: number, buffer: Buffer): boolean {
    try {
      const bytes = buffer.subarray(0, length);
      if (head === undefined) return take({ bytes, buffer });
      head = Buffer.concat([head, bytes]);
      const at = head.indexOf(headEnd);
      if (at < 0) {
        free.push(buffer);
        if (head.length >= maxHeadSize) end();
        return true;
      }
      const headers = matchingHeaders(head.toString('latin1', 0, at), expected);
      if (headers === undefined) {
        end();
        return true;
      }
      expected.onHeaders?.(headers);
      const first = bytes.subarray(at + headEnd.length - (head.length - length));
      head = undefined;
      return take({ bytes: first, buffer });
    } catch (error) {
      fail(error);
      return true;
    }
  }

  try {
    socket = connect(outgoing, agent, {
      buffer: () => free.pop() ?? Buffer.allocUnsafeSlow(bufferSize),
      callback: onBytes,
    });
    socket.on('error', end).on('close', end);
    socket.setTimeout(idleMs, end);
    signal.addEventListener('abort', stop, { once: true });
    const lines = Object.entries({ ...outgoing.headers, connection: 'close' }).map(
      ([name, text]) => `${name}: ${text}`,
    );
    socket.write(`${outgoing.method} ${outgoing.target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Bytes in the buffer that the socket wrote them to. */
interface Read {
  readonly bytes: Buffer;
  readonly buffer: Buffer;
}

interface Reader {
  /** Called before each read. */
  readonly buffer: () => Buffer;
  readonly callback: (length: number, buffer: Buffer) => boolean;
}

/** Makes a connection as the agent does, with its certificates and its addresses of hosts. */
function connect(outgoing: Outgoing, agent: Agent | HttpsAgent, onread: Reader): Socket {
  const { hostname, port } = new URL(`${outgoing.secure ? 'https' : 'http'}://${outgoing.host}`);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const maker = agent as unknown as {
    readonly options: object;
    readonly createConnection: (given: object) => Socket;
  };
  return maker.createConnection({
    ...maker.options,
    host,
    port: port === '' ? (outgoing.secure ? 443 : 80) : Number(port),
    ...(outgoing.secure && isIP(host) === 0 && { servername: host }),
    onread,
  });
}

/** Returns the headers of an answer with the expected body; undefined for any other. Names are in lower case. */
function matchingHeaders(head: string, { status, length }: ExpectedBody): IncomingHttpHeaders | undefined {
  const [first = '', ...lines] = head.split('\r\n');
  if (!new RegExp(String.raw`^HTTP/1\.1 ${status}(?: |$)`).test(first)) return undefined;
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) return undefined;
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const isPlain = headers['transfer-encoding'] === undefined && headers['content-length'] === String(length);
  return isPlain ? headers : undefined;
}
