import type { Request, RequestHandler } from 'express';
import type { RequestOrigin } from '../../auth/condition-keys.ts';
import { createSourceFinder, type FindSource, type Source } from '../../http/contract/source-address.ts';
import { tlsVersionOf } from '../../http/contract/tls-version.ts';
import type { ConsoleSettings } from '../services.ts';

const direct = createSourceFinder();
const found = new WeakMap<object, Source>();

/** Determines the source of each request before the routes run. */
export function findSources(find: FindSource = direct): RequestHandler {
  return (request, _response, next) => {
    found.set(request, find(request.socket.remoteAddress, request.headers));
    next();
  };
}

/** The source of the request: the client, behind the trusted proxies. */
export function sourceOf(request: Request): Source {
  return found.get(request) ?? direct(request.socket.remoteAddress, request.headers);
}

/** The origin of the request for conditions of policies. */
export function originOf(request: Request): RequestOrigin {
  const { address } = sourceOf(request);
  const tlsVersion = () => tlsVersionOf(request.socket);
  return { remoteAddress: address, secure: isEncrypted(request), tlsVersion };
}

/** Reports whether this server terminates TLS for the connection. */
export function isEncrypted(request: Request): boolean {
  return 'encrypted' in request.socket && request.socket.encrypted === true;
}

/** Reports whether the browser uses TLS: to this server, to a trusted proxy, or by the configured public URL. Cookies are secure then. */
export function isSecure(request: Request, settings: Pick<ConsoleSettings, 'browserUrl'>): boolean {
  return isEncrypted(request) || sourceOf(request).encrypted || settings.browserUrl?.startsWith('https:') === true;
}
