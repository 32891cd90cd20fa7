import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../../keysvc/keystores/remote/remote.ts';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Time for tests, shared by a store and the vault it speaks to: it stands still until somebody waits. */
export class VirtualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  /** What was waited for, in order. */
  readonly slept: number[] = [];

  now(): number {
    return this.#now;
  }

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    const until = this.#now + ms;
    // What others have under way comes first, as it would in a real wait.
    await turn();
    this.#now = Math.max(this.#now, until);
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

// A stand-in for a vault's HTTP interface, for tests: answers by a function, and fails as networks and vaults do.

export interface DoubleRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface DoubleAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export type Fault =
  | DoubleAnswer
  /** The connection ends before the request is looked at. */
  | 'cut'
  /** The request is carried out, and the connection ends before its answer. */
  | 'lost-answer'
  /** Nothing ever comes. */
  | 'silence';

/** Which fault the request meets; undefined for none. */
type FaultOf = (request: DoubleRequest) => Fault | undefined;

export interface HttpDouble {
  readonly url: string;
  readonly requests: readonly DoubleRequest[];
  /** Asked before each request until it is replaced. */
  faultOf: FaultOf;
  close(): Promise<void>;
}

/** The dates of its answers are the virtual clock's. */
export async function startHttpDouble(
  clock: VirtualClock,
  answer: (request: DoubleRequest) => DoubleAnswer | Promise<DoubleAnswer>,
  tls?: ServerOptions,
): Promise<HttpDouble> {
  const requests: DoubleRequest[] = [];
  const scheme = tls === undefined ? 'http' : 'https';
  const double = { faultOf: (() => undefined) as FaultOf };
  const listener = (incoming: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      const request: DoubleRequest = {
        method: incoming.method ?? '',
        url: new URL(incoming.url ?? '', `${scheme}://${incoming.headers.host ?? ''}`),
        headers: incoming.headers,
        body: await text(incoming),
      };
      requests.push(request);
      const fault = double.faultOf(request);
      if (fault === 'silence') return;
      if (fault === 'cut') return void incoming.socket.destroy();
      const { status, headers, body } = typeof fault === 'object' ? fault : await answer(request);
      if (fault === 'lost-answer') return void incoming.socket.destroy();
      response.writeHead(status, {
        date: new Date(clock.now()).toUTCString(),
        'content-type': 'application/json',
        ...headers,
      });
      response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body));
    })();
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await listenOnLoopback(server);
  return Object.assign(double, {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => closeServer(server),
  });
}

/** The first so many requests that match meet the fault. */
export function first(count: number, fault: Fault, matches: (request: DoubleRequest) => boolean = () => true): FaultOf {
  let met = 0;
  return (request) => (matches(request) && met++ < count ? fault : undefined);
}

function listenOnLoopback(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
