import { randomBytes } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { RequestEvents, AuditContext } from '../../http/contract/request.ts';
import { listOfHeaders, RequestAudit } from '../../http/contract/request-audit.ts';
import { operationOf } from './operation-names.ts';
import { isPageRefresh } from './page-refresh.ts';
import { isEncrypted, sourceOf } from './request-source.ts';

/** Reports each API call, and each return from an identity provider, to the subscribers. Files of the web application are not reported. */
export function auditRequests(events: RequestEvents): RequestHandler {
  return (request, response, next) => {
    if (events.hasSubscribers && /^\/(?:api\/|oauth_callback)/i.test(request.path))
      startAudit(events, request, response);
    next();
  };
}

/** Returns the audit context of a request; undefined without a subscriber. */
export function auditOf(response: Response): AuditContext | undefined {
  return auditState(response).audit;
}

function startAudit(events: RequestEvents, request: Request, response: Response): void {
  const audit = new RequestAudit(request);
  audit.setApi('console');
  if (isPageRefresh(request.method, request.path, request.headers)) audit.setRefresh();
  const { name, ...place } = operationOf(request.method, request.path);
  audit.setOperation(name, place);
  auditState(response).audit = audit;
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
    events.emit(audit.finish(exchange, { status, outcome, responseHeaders: listOfHeaders(response.getHeaders()) }));
  });
}

function auditState(response: Response): { audit?: RequestAudit } {
  return response.locals;
}

function splitOnce(target: string): readonly string[] {
  const question = target.indexOf('?');
  return question < 0 ? [target] : [target.slice(0, question), target.slice(question + 1)];
}
