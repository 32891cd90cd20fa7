import type { Request, RequestHandler } from 'express';
import type { RequestOrigin } from '../../auth/condition-keys.ts';
import { createSourceFinder, type FindSource, type Source } from '../../http/contract/source-address.ts';
import type { ConsoleSettings } from '../services.ts';

const direct = createSourceFinder();
const found = new WeakMap<object, Source>();

/** Finds where each request comes from, before anything asks. */
export function findSources(find: FindSource = direct): RequestHandler {
  return (request, _response, next) => {
    found.set(request, find(request.socket.remoteAddress, request.headers));
    next();
  };
}

/** Where the request comes from: its client, behind the proxies that the settings trust. */
export function sourceOf(request: Request): Source {
  return found.get(request) ?? direct(request.socket.remoteAddress, request.headers);
}

/** The same as the rooms that decide know it. */
export function originOf(request: Request): RequestOrigin {
  const { address, shared } = sourceOf(request);
  return { remoteAddress: address, sharedAddress: shared, secure: isEncrypted(request) };
}

/** Whether the connection itself is encrypted, ended here. */
export function isEncrypted(request: Request): boolean {
  return 'encrypted' in request.socket && request.socket.encrypted === true;
}

/** Whether the browser reaches the console over TLS, ended here, at the proxy whose address is set, or at a trusted one: then cookies say so. */
export function isSecure(request: Request, settings: Pick<ConsoleSettings, 'browserUrl'>): boolean {
  return isEncrypted(request) || sourceOf(request).encrypted || settings.browserUrl?.startsWith('https:') === true;
}
