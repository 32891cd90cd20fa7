import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { keyNameProblem, patternProblem } from '../../protocol/key-service/names.ts';
import type { Identity } from '../../protocol/key-service/identity.ts';
import { findRoute } from '../../protocol/key-service/routes.ts';
import type { Method, Route } from '../../protocol/key-service/routes.ts';
import type { Logger } from '../../platform/logger.ts';
import { clientIdentity } from '../access/client-identity.ts';
import type { ClientIdentity } from '../access/client-identity.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Answer, Service } from '../calls/call.ts';
import { handlers } from '../calls/handlers.ts';
import { refuse, Refused } from './refused.ts';

export interface ListenerOptions {
  readonly service: Service;
  readonly audit: AuditLog;
  readonly log: Logger;
  readonly logErrors: () => boolean;
  readonly verifyClients: boolean;
  readonly skipAuth: ReadonlySet<string>;
  /** Milliseconds that a call may take. */
  readonly timeoutMs: number;
  /** Whether a connection is to end with the answer under way. */
  readonly closes: (socket: TLSSocket) => boolean;
}

/** Answers one request after another: who calls, may it, then the call itself; every answer leaves an audit line. */
export function createRequestListener(options: ListenerOptions): RequestListener {
  const { service, audit, log } = options;
  const known = new WeakMap<TLSSocket, ClientIdentity>();

  const whoCalls = (socket: TLSSocket): ClientIdentity => {
    let client = known.get(socket);
    if (client === undefined) {
      client = clientIdentity(socket, { verify: options.verifyClients });
      known.set(socket, client);
    }
    return client;
  };

  async function answer(request: IncomingMessage, path: string, client: ClientIdentity): Promise<Answer> {
    const found = findRoute(path);
    if (found === undefined) throw refuse('notImplemented');
    const { route } = found;
    if (!route.methods.includes(request.method as Method)) {
      throw refuse('methodNotAllowed', { headers: { accept: route.methods.join(', ') } });
    }
    const open = route.access === 'none' || (route.maySkipAuth && options.skipAuth.has(route.path));
    const identity = client.kind === 'known' ? client.identity : undefined;
    if (!open && client.kind === 'unknown') {
      log.debug({ path, reason: client.reason }, 'call without identity refused');
      throw refuse(client.refusal);
    }
    const argument = checkedArgument(route, found.argument);
    if (!open && route.access === 'policy') authorize(identity, route, argument);
    return handlers[route.api]({ service, route, argument, identity, request });
  }

  function authorize(identity: Identity | undefined, route: Route, argument: string): void {
    const path = argument === '' ? route.path : `${route.path}/${argument}`;
    if (identity === undefined || !service.authorizer.allows(identity, path)) throw refuse('notPermitted');
  }

  function report(error: unknown, path: string): Refused {
    if (error instanceof Refused) {
      if (error.status >= 500 && error.status !== 501 && options.logErrors()) {
        log.error({ path, err: error.cause ?? error }, error.message);
      }
      return error;
    }
    log.error({ path, err: error }, 'a call failed unexpectedly');
    return new Refused(500, 'internal server error', { cause: error });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = process.hrtime.bigint();
    const socket = request.socket as TLSSocket;
    const client = whoCalls(socket);
    const path = pathOf(request);
    let sent: { status: number };
    try {
      if (path === undefined) throw new Refused(400, 'invalid argument: the path is not valid');
      sent = sendAnswer(
        response,
        await withDeadline(answer(request, path, client), options.timeoutMs),
        options.closes(socket),
      );
    } catch (error) {
      sent = sendRefusal(response, report(error, path ?? ''), options.closes(socket));
    }
    audit.record({
      time: new Date(service.now()).toISOString(),
      request: {
        ...(socket.remoteAddress === undefined ? {} : { ip: socket.remoteAddress }),
        path: path ?? '',
        ...(client.kind === 'known' ? { identity: client.identity } : {}),
      },
      response: { code: sent.status, time: Number(process.hrtime.bigint() - started) },
    });
  }

  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'a call could not be answered');
      response.destroy();
    });
  };
}

/** Errors with a `Refused` where the name or pattern is none. A list without a pattern is one of everything. */
function checkedArgument(route: Route, argument: string): string {
  switch (route.argument) {
    case 'none':
      return '';
    case 'name':
      return checkedBy(keyNameProblem, argument);
    case 'pattern':
      return checkedBy(patternProblem, argument === '' ? '*' : argument);
  }
}

function checkedBy(problemOf: (text: string) => string | undefined, argument: string): string {
  const problem = problemOf(argument);
  if (problem !== undefined) throw new Refused(400, problem);
  return argument;
}

function pathOf(request: IncomingMessage): string | undefined {
  try {
    return decodeURIComponent(new URL(request.url ?? '', 'https://keysvc').pathname);
  } catch {
    return undefined;
  }
}

async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(refuse('timeout')), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function sendAnswer(response: ServerResponse, answer: Answer, closes: boolean): { status: number } {
  if (closes) response.setHeader('connection', 'close');
  switch (answer.kind) {
    case 'empty':
      response.writeHead(200, { 'content-length': 0 }).end();
      break;
    case 'json':
      sendText(response, 200, 'application/json', JSON.stringify(answer.body));
      break;
    case 'lines':
      sendText(response, 200, 'application/x-ndjson', answer.text);
      break;
  }
  return { status: 200 };
}

function sendRefusal(response: ServerResponse, refused: Refused, closes: boolean): { status: number } {
  for (const [name, value] of Object.entries(refused.headers)) response.setHeader(name, value);
  if (closes) response.setHeader('connection', 'close');
  response.setHeader('x-content-type-options', 'nosniff');
  sendText(response, refused.status, 'application/json', JSON.stringify({ message: refused.message }));
  return { status: refused.status };
}

function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}
