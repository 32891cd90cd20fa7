import type { RequestHandler } from 'express';
import { ConsoleError } from './console-error.ts';

/** Sent by the web application with every call that changes something: a page of another site cannot add it unasked. */
export const guardHeader = 'x-coffer-console';

interface Sent {
  readonly method: string;
  readonly guard: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly host: string | undefined;
}

/** Why a request may come from another site's page; undefined when it cannot. `browserUrl` is the console's address outside. */
export function crossSiteProblem(sent: Sent, browserUrl: string | undefined): string | undefined {
  if (sent.method === 'GET' || sent.method === 'HEAD' || sent.method === 'OPTIONS') return undefined;
  if (sent.guard === undefined) return `The header ${guardHeader} is missing.`;
  if (sent.fetchSite !== undefined && sent.fetchSite !== 'same-origin' && sent.fetchSite !== 'none') {
    return `The request comes from another site (Sec-Fetch-Site: ${sent.fetchSite.slice(0, 40)}).`;
  }
  if (sent.origin === undefined) return undefined;
  const host = URL.canParse(sent.origin) ? new URL(sent.origin).host : undefined;
  const outside = browserUrl === undefined ? undefined : new URL(browserUrl).host;
  if (host !== undefined && (host === sent.host || host === outside)) return undefined;
  return (
    `The request comes from ${sent.origin.slice(0, 200)}, and the console is at ${sent.host ?? 'no host'}. ` +
    'Behind a proxy that changes the Host header, set SVC_BROWSER_REDIRECT_URL.'
  );
}

/** Refuses changes that another site's page may have caused with this person's cookie. */
export function refuseCrossSite(browserUrl: string | undefined): RequestHandler {
  return (request, _response, next) => {
    const problem = crossSiteProblem(
      {
        method: request.method,
        guard: request.get(guardHeader),
        origin: request.get('origin'),
        fetchSite: request.get('sec-fetch-site'),
        host: request.get('host'),
      },
      browserUrl,
    );
    if (problem !== undefined) throw new ConsoleError('CrossSiteRequest', problem);
    next();
  };
}
