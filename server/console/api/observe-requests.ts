import { randomBytes } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { RequestEvents, RequestWatch } from '../../http/contract/request.ts';
import { WatchedRequest } from '../../http/contract/watched-request.ts';

import { isEncrypted, sourceOf } from './request-source.ts';

/** Reports each call of the API and each return from an identity provider to the observers. Files of the web application are not reported. */
export function observeRequests(events: RequestEvents): RequestHandler {
  return (request, response, next) => {
    if (events.heard && /^\/(?:api\/|oauth_callback)/.test(request.path)) watch(events, request, response);
    next();
  };
}

/** The watch of a request; undefined without observers. */
export function watchOf(response: Response): RequestWatch | undefined {
  return watches(response).watch;
}

function watch(events: RequestEvents, request: Request, response: Response): void {
  const watched = new WatchedRequest(request);
  watched.enters('console');
  watches(response).watch = watched;
  // Routers change `request.url` while they match.
  const [rawPath = '', rawQuery = ''] = splitOnce(request.originalUrl);
  const exchange = {
    requestId: randomBytes(8).toString('hex').toUpperCase(),
    method: request.method,
    rawPath,
    rawQuery,
    headers: request.headers,
    remoteAddress: sourceOf(request).address,
    secure: isEncrypted(request),
  };
  response.once('close', () => {
    const outcome = response.writableFinished ? 'answered' : response.headersSent ? 'broken' : 'canceled';
    const status = response.headersSent ? response.statusCode : 0;
    events.tell(watched.finish(exchange, response, { status, outcome }));
  });
}

function watches(response: Response): { watch?: WatchedRequest } {
  return response.locals;
}

function splitOnce(target: string): readonly string[] {
  const question = target.indexOf('?');
  return question < 0 ? [target] : [target.slice(0, question), target.slice(question + 1)];
}
