import { keyNameError, patternError } from '../../protocol/key-service/names.ts';
import { type Api, findRoute, type Method, type Route, timeoutHeader } from '../../protocol/key-service/routes.ts';
import { callError, rejectedCall } from '../calls/call-error.ts';
import { RequestError } from '../../protocol/request-error.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Identity } from '../../protocol/key-service/identity.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { RepeatedLines } from '../../platform/output/repeated-lines.ts';
import type { Caller } from './caller.ts';
import type { Answer, Service } from '../calls/call.ts';
import { isOutage } from '../keystores/keystore.ts';
import { withTimeLimit } from '../keystores/remote/time-limit.ts';
import { handlers } from '../calls/handlers.ts';
import { type EventStreams, sendAnswer, sendError } from './send-answer.ts';

/** The route of a request. */
interface RequestTarget {
  readonly route: Route;
  /** The name, pattern or identity after the path. */
  readonly written: string;
}

/** Returns the decoded path of a request without its query; undefined for an invalid URL. */
function pathOf(url: string): string | undefined {
  try {
    // A path that begins with "//" must not be parsed as a host.
    return decodeURIComponent((url.startsWith('/') ? new URL(`https://keysvc${url}`) : new URL(url)).pathname);
  } catch {
    return undefined;
  }
}

/** @throws RequestError */
function targetOf(method: string, path: string): RequestTarget {
  if (path.includes('//')) throw rejectedCall(404, `not found: the path ${path.slice(0, 200)} has an empty segment`);
  const found = findRoute(path);
  if (found === undefined) throw callError('notImplemented');
  const { route } = found;
  if (!route.methods.includes(method as Method)) {
    throw callError('methodNotAllowed', { headers: { accept: route.methods.join(', ') } });
  }
  return { route, written: found.argument };
}

/**
 * Validates the name or pattern. The default pattern of a list is `*`.
 *
 * @throws RequestError
 */
function checkedArgument({ route, written }: RequestTarget): string {
  switch (route.argument) {
    case 'none':
      return '';
    case 'name':
      return checkedBy(keyNameError, written);
    case 'pattern':
      return checkedBy(patternError, written === '' ? '*' : written);
  }
}

function checkedBy(issueOf: (text: string) => string | undefined, argument: string): string {
  const issue = issueOf(argument);
  if (issue !== undefined) throw rejectedCall(400, issue);
  return argument;
}

export interface ListenerOptions {
  readonly service: Service;
  readonly log: Logger;
  readonly logErrors: () => boolean;
  readonly identifyCaller: (request: IncomingMessage) => Caller;
  readonly streams: EventStreams;
  /** Reports whether a connection ends after the current answer. */
  readonly closes: (socket: TLSSocket) => boolean;
}

/** Answers requests: it identifies the caller, authorizes the call, runs it, and writes the audit log. */
export function createRequestListener(options: ListenerOptions): RequestListener {
  const { service, log } = options;
  const failures = new RepeatedLines(log);

  async function answer(request: IncomingMessage, target: RequestTarget, { client, ip }: Caller): Promise<Answer> {
    const { route } = target;
    const open = service.isOpen(route);
    const identity = client.kind === 'known' ? client.identity : undefined;
    if (!open && client.kind === 'unknown') {
      const { certificate, reason } = client;
      if (certificate === undefined) {
        log.debug({ path: route.path, reason }, 'call without identity refused');
        throw callError(client.refusal);
      }
      const { subject, identity, validUntil, why } = certificate;
      const fields = { ip, subject, identity, validUntil, path: route.path };
      failures.write('warn', fields, `client certificate refused: ${why}`);
      service.errors.record(`client certificate of ${subject} (identity ${identity}) refused: ${why}`);
      throw rejectedCall(403, `not authorized: ${why}`, { headers: { connection: 'close' } });
    }
    const argument = checkedArgument(target);
    if (!open && route.access === 'policy') authorize(identity, route, argument);
    return handlers[route.api]({ service, route, argument, identity, request });
  }

  function authorize(identity: Identity | undefined, route: Route, argument: string): void {
    const path = argument === '' ? route.path : `${route.path}/${argument}`;
    if (identity === undefined || !service.authorizer.allows(identity, path)) throw callError('notPermitted');
  }

  function report(error: unknown, path: string): RequestError {
    if (error instanceof RequestError) {
      if (error.status < 500 || error.status === 501) return error;
      if (options.logErrors()) logRefusal(error, path);
      service.errors.record(`${path}: ${withCause(error)}`);
      return error;
    }
    log.error({ path, err: error }, 'a call failed unexpectedly');
    service.errors.record(`${path}: a call failed unexpectedly: ${withCause(error)}`);
    return rejectedCall(500, 'internal server error', { cause: error });
  }

  /** Lines that repeat are left out while the key store does not answer. Any other line names its key, which may be damaged. */
  function logRefusal(error: RequestError, path: string): void {
    const fields = { path, err: error.cause ?? error };
    if (isOutage(error.cause) || error.code === 'timeout') failures.write('error', fields, error.message);
    else log.error(fields, error.message);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const path = pathOf(request.url ?? '');
    let caller: Caller = { client: unidentified, ip: request.socket.remoteAddress };
    let isAudited = true;
    service.metrics.began();
    let status = 200;
    try {
      caller = options.identifyCaller(request);
      if (options.closes(request.socket as TLSSocket)) response.setHeader('connection', 'close');
      if (path === undefined) throw rejectedCall(400, 'invalid argument: the path is not valid');
      const target = targetOf(request.method ?? '', path);
      isAudited = target.route.audited;
      const timeoutMs = timeoutOf(request, service.timeoutOf(target.route));
      const work = () => answer(request, target, caller);
      // A change of the store that its caller no longer waits for still has to come to an end.
      const isLimited = timeoutMs !== undefined && !changing.has(target.route.api);
      const answering = isLimited ? withTimeLimit(timeoutMs - marginOf(timeoutMs), work) : work();
      sendAnswer(response, await withDeadline(answering, timeoutMs), options.streams);
    } catch (error) {
      const rejected = report(error, path ?? '');
      sendError(response, rejected);
      status = rejected.status;
      isAudited = true;
    }
    const milliseconds = performance.now() - started;
    service.metrics.answered(status, milliseconds / 1000);
    if (!isAudited) return;
    const { client, ip } = caller;
    service.audit.record({
      time: new Date(service.now()).toISOString(),
      request: { ip, path: path ?? '', identity: identityIn(client) },
      response: { code: status, time: Math.round(milliseconds * 1_000_000) },
    });
  }

  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'a call could not be answered');
      response.destroy();
    });
  };
}

/** The calls that change the store. */
const changing: ReadonlySet<Api> = new Set(['key-create', 'key-import', 'key-rotate', 'key-delete']);

/** The time of the call, or less where its caller says that it waits less. */
function timeoutOf(request: IncomingMessage, ofRoute: number | undefined): number | undefined {
  const header = request.headers[timeoutHeader];
  const asked = typeof header === 'string' && /^[1-9]\d{0,8}$/.test(header) ? Number(header) : undefined;
  if (ofRoute === undefined || asked === undefined) return ofRoute;
  return Math.min(ofRoute, asked);
}

/** The store gets less time than its caller has, so that the answer about the store arrives. */
function marginOf(timeoutMs: number): number {
  return Math.min(1000, timeoutMs / 5);
}

/** The client of a request whose certificate could not be read. */
const unidentified: Caller['client'] = {
  kind: 'unknown',
  refusal: 'notPermitted',
  reason: 'the client certificate cannot be read',
};

/** The handshake proves the holder of a certificate even when the certificate is refused. */
function identityIn(client: Caller['client']): Identity | undefined {
  return client.kind === 'known' ? client.identity : client.certificate?.identity;
}

function withCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

async function withDeadline<T>(work: Promise<T>, timeoutMs: number | undefined): Promise<T> {
  if (timeoutMs === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(callError('timeout')), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
