import { once } from 'node:events';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { request as sendRequest } from './node-http.ts';

export interface Outgoing {
  readonly secure: boolean;
  /** The host with the port, as in the header `host`. */
  readonly host: string;
  readonly method: string;
  /** The path with the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array> | readonly Uint8Array[];
}

/** The timeout of a socket without traffic. */
const idleMs = 120_000;

/** The wait for `100 Continue`. RFC 9110 (10.1.1) demands that the client then sends the body. */
const continueMs = 1_000;

/**
 * Sends one request and returns the response when its headers arrive; the caller reads the body. A response during the upload, such as a
 * refusal, ends the upload.
 */
export async function exchange(
  outgoing: Outgoing,
  agent: Agent | HttpsAgent,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const protocol = outgoing.secure ? 'https:' : 'http:';
  const { hostname, port } = new URL(`${protocol}//${outgoing.host}`);
  const request = sendRequest({
    // The agent makes the connection, so that plain HTTP loads no TLS.
    agent,
    protocol,
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: port === '' ? (outgoing.secure ? 443 : 80) : Number(port),
    method: outgoing.method,
    path: outgoing.target,
    headers: outgoing.headers,
    signal,
  });
  request.setTimeout(idleMs, () => request.destroy(timedOut()));
  // An error after the response appears when its body is read.
  request.on('error', () => undefined);
  const response = once(request, 'response') as Promise<[IncomingMessage]>;
  const sending = sendBody(request, outgoing);
  // A failure of the upload or of the response ends the other. `firstFailure` finds the original one.
  sending.catch(() => undefined);
  try {
    const [answer] = await response;
    return answer;
  } catch (error) {
    request.destroy();
    throw await firstFailure(sending, error);
  }
}

async function sendBody(request: ClientRequest, outgoing: Outgoing): Promise<void> {
  if (outgoing.body === undefined) {
    request.end();
    return;
  }
  let answer: IncomingMessage | undefined;
  request.once('response', (response) => (answer = response));
  const over = (): boolean => answer !== undefined || request.destroyed;
  if (outgoing.headers['expect'] !== undefined) {
    request.flushHeaders();
    await eventOf(request, 'continue', continueMs);
  }
  try {
    for await (const bytes of outgoing.body) {
      if (over()) break;
      if (!request.write(bytes)) await eventOf(request, 'drain');
      if (over()) break;
    }
  } catch (error) {
    request.destroy(error instanceof Error ? error : undefined);
    throw error;
  }
  if (answer === undefined) request.end();
  else closeAfter(request, answer);
}

/** Waits for the event, the response, the end of the connection, or the timeout. */
async function eventOf(request: ClientRequest, event: 'continue' | 'drain', milliseconds?: number): Promise<void> {
  if (request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const events = [event, 'response', 'close'];
  const done = (): void => resolve();
  for (const name of events) request.on(name, done);
  const timer = milliseconds === undefined ? undefined : setTimeout(done, milliseconds);
  await promise;
  clearTimeout(timer);
  for (const name of events) request.off(name, done);
}

/** Closes the connection after an early response, since the server still expects the rest of the body. */
function closeAfter(request: ClientRequest, answer: IncomingMessage): void {
  if (answer.closed) request.destroy();
  else answer.once('close', () => request.destroy());
}

/** When the body cannot be read, the closed connection is only a consequence. */
async function firstFailure(sending: Promise<void>, failure: unknown): Promise<unknown> {
  try {
    await Promise.race([sending, sleep(0)]);
    return failure;
  } catch (error) {
    return error;
  }
}

function timedOut(): Error {
  return Object.assign(new Error(`Nothing came from the server for ${idleMs / 1_000} seconds`), { code: 'ETIMEDOUT' });
}

/** Writes requests and responses for `--debug`, without secrets. */
export type Trace = (line: string) => void;

const secret = new Set(['x-amz-security-token', 'cookie', 'set-cookie']);

export function traceRequest(trace: Trace, outgoing: Outgoing): void {
  trace(`> ${outgoing.method} ${redactQuery(outgoing.target)} HTTP/1.1`);
  for (const [name, value] of Object.entries(outgoing.headers)) trace(`> ${name}: ${redactHeader(name, value)}`);
  trace('>');
}

export function traceResponse(trace: Trace, response: IncomingMessage, milliseconds: number): void {
  trace(
    `< HTTP/${response.httpVersion} ${response.statusCode} ${response.statusMessage} (${milliseconds.toFixed(1)} ms)`,
  );
  for (const [name, value] of Object.entries(response.headers))
    trace(`< ${name}: ${redactHeader(name, String(value))}`);
  trace('<');
}

function redactHeader(name: string, value: string): string {
  if (secret.has(name)) return '**REDACTED**';
  return name === 'authorization'
    ? value
        .replace(/^Bearer .*/, 'Bearer **REDACTED**')
        .replace(/Credential=[^/]*\//, 'Credential=**REDACTED**/')
        .replace(/Signature=.*/, 'Signature=**REDACTED**')
    : value;
}

function redactQuery(target: string): string {
  return target.replaceAll(/(X-Amz-(?:Signature|Security-Token|Credential))=[^&]*/g, '$1=**REDACTED**');
}
