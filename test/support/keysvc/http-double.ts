import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../../keysvc/keystores/remote/remote.ts';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A virtual clock that a store and its double share. It advances only when a caller waits. */
export class VirtualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  /** The waits in their order. */
  readonly slept: number[] = [];

  now(): number {
    return this.#now;
  }

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    const until = this.#now + ms;
    // Other pending work runs first, as during a real wait.
    await turn();
    this.#now = Math.max(this.#now, until);
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

// A double of a vault's HTTP interface. A function answers, and faults simulate those of networks and vaults.

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
  /** The connection ends before the request is processed. */
  | 'cut'
  /** The request is processed, and the connection ends before the answer. */
  | 'lost-answer'
  /** No answer comes. */
  | 'silence';

/** Returns the fault of a request; undefined for none. The request waits for a promise. */
type FaultOf = (request: DoubleRequest) => Fault | undefined | Promise<undefined>;

export interface HttpDouble {
  readonly url: string;
  readonly requests: readonly DoubleRequest[];
  /** Called before each request. A test may replace it. */
  faultOf: FaultOf;
  close(): Promise<void>;
}

/** The answers have dates of the virtual clock. */
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
      const fault = await double.faultOf(request);
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

/** Returns the fault for the first `count` matching requests. */
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
