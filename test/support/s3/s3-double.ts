import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type DoubleAnswer, DoubleBucket, type DoubleRequest } from './s3-double-bucket.ts';

/** What goes wrong with one request. */
type S3Fault =
  /** Answered instead of being done. */
  | { readonly kind: 'answer'; readonly status: number; readonly code: string; readonly retryAfter?: number }
  /** The connection ends before it is done. */
  | { readonly kind: 'reset' }
  /** It is done, and the connection ends without an answer. */
  | { readonly kind: 'lost' }
  /** Not done, never answered; the connection stays open. */
  | { readonly kind: 'silent' }
  /** A body is cut after so many bytes: the connection ends, or stays open and silent. */
  | { readonly kind: 'cut' | 'stall'; readonly after: number }
  /** A bit of the request's body is another when it comes. */
  | { readonly kind: 'damage' }
  /** It is not done, and something else than an S3 answers, such as the page of a proxy. */
  | { readonly kind: 'instead'; readonly answer: DoubleAnswer }
  /** It is done, and the answer is changed on its way. */
  | { readonly kind: 'changed'; readonly change: (answer: DoubleAnswer) => DoubleAnswer }
  /** Done before the given promise resolves, answered after it. */
  | { readonly kind: 'wait'; readonly until: Promise<unknown> };

export interface S3Double {
  readonly endpoint: string;
  /** `METHOD` and the name of the operation of every request so far, in their order. */
  readonly requests: readonly string[];
  readonly bucket: DoubleBucket;
  /** The next requests of this operation suffer these, one each. */
  fault(operation: string, ...faults: readonly S3Fault[]): void;
  /** All requests of this operation do, until it is called without a fault. */
  always(operation: string, fault?: S3Fault): void;
  close(): Promise<void>;
}

/**
 * An S3 for what real ones cannot be made to do. It is strict: one bucket by path style, bodies of a known length whose
 * MD5 or SHA-256 is signed, parts of one size, no query that it does not know.
 */
export async function startS3Double(tls?: { readonly cert: string; readonly key: string }): Promise<S3Double> {
  const bucket = new DoubleBucket();
  const requests: string[] = [];
  const faults = new Map<string, S3Fault[]>();
  const always = new Map<string, S3Fault>();
  const sockets = new Set<Socket>();

  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    void (async () => {
      const request = await received(incoming).catch(() => undefined);
      // The client gave up while it sent the body: the double has no one to answer.
      if (request === undefined) return;
      const operation = bucket.operation(request);
      requests.push(operation);
      const fault = faults.get(operation)?.shift() ?? always.get(operation);
      await respond(bucket, request, response, fault);
    })();
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    endpoint: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    bucket,
    fault: (operation, ...more) => faults.set(operation, [...(faults.get(operation) ?? []), ...more]),
    always: (operation, fault) => (fault === undefined ? always.delete(operation) : always.set(operation, fault)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function received(incoming: IncomingMessage): Promise<DoubleRequest> {
  const url = new URL(incoming.url ?? '', 'http://double');
  const body = Buffer.concat(await incoming.toArray());
  const path = decodeURIComponent(url.pathname);
  return { method: incoming.method ?? '', path, query: url.searchParams, headers: incoming.headers, body };
}

async function respond(
  bucket: DoubleBucket,
  request: DoubleRequest,
  response: ServerResponse,
  fault: S3Fault | undefined,
): Promise<void> {
  switch (fault?.kind) {
    case 'silent':
      return;
    case 'reset':
      response.destroy();
      return;
    case 'lost':
      bucket.answer(request);
      response.destroy();
      return;
    case 'answer': {
      const later: Record<string, string> =
        fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
      const body = `<Error><Code>${fault.code}</Code><Message>as the test wants</Message></Error>`;
      send(response, { status: fault.status, headers: later, body: Buffer.from(body) });
      return;
    }
    case 'cut':
    case 'stall': {
      const answer = bucket.answer(request);
      head(response, answer);
      response.write(answer.body.subarray(0, fault.after), () => {
        if (fault.kind === 'cut') response.destroy();
      });
      return;
    }
    case 'damage': {
      const body = Buffer.from(request.body);
      body[0] = (body[0] ?? 0) ^ 1;
      send(response, bucket.answer({ ...request, body }));
      return;
    }
    case 'instead':
      send(response, fault.answer);
      return;
    case 'changed':
      send(response, fault.change(bucket.answer(request)));
      return;
    case 'wait': {
      const answer = bucket.answer(request);
      await fault.until;
      send(response, answer);
      return;
    }
    case undefined:
      send(response, bucket.answer(request));
  }
}

function send(response: ServerResponse, answer: DoubleAnswer): void {
  head(response, answer);
  response.end(answer.body);
}

function head(response: ServerResponse, answer: DoubleAnswer): void {
  const length = answer.headers?.['content-length'] ?? String(answer.body.length);
  response.writeHead(answer.status, { ...answer.headers, 'content-length': length });
}
