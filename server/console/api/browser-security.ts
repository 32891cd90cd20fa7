import type { Request, RequestHandler } from 'express';
import type { ConsoleSettings } from '../services.ts';
import { isSecure } from './request-source.ts';
import { consoleError } from './console-error.ts';

/** Mantine writes its variables into a style element. Styles may therefore be inline; scripts may not. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "media-src 'self'",
  "frame-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The policy of stored objects. Scripts in them do not run in the console's origin. */
export const objectSecurityPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

/**
 * The policy of a PDF that the page shows in a frame. Chromium opens its viewer, which is a program of its own, in no sandboxed document.
 * The content type is fixed, so that nothing else is interpreted.
 */
export const framedSecurityPolicy =
  "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'";

/** One year in seconds. */
const strictTransport = 'max-age=31536000';

/** Keeps browsers on TLS, except for localhost: HSTS would apply to the other ports of the machine. */
function mayBeStrict(request: Request): boolean {
  return !/(?:^|\.)localhost$/i.test(request.hostname ?? '');
}

export function securityHeaders(settings: Pick<ConsoleSettings, 'browserUrl'>): RequestHandler {
  return (request, response, next) => {
    if (isSecure(request, settings) && mayBeStrict(request)) response.set('strict-transport-security', strictTransport);
    response.set(headers);
    next();
  };
}

const headers = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** The web application sends this header with every change. A page of another site cannot add it without a preflight request. */
export const guardHeader = 'x-coffer-console';

interface Sent {
  readonly method: string;
  readonly guard: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly host: string | undefined;
}

/** Returns why a request may come from a page of another site; undefined if it cannot. `browserUrl` is the console's public URL. */
function crossSiteReason(sent: Sent, browserUrl: string | undefined): string | undefined {
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

/** A form starts a download. It changes nothing and cannot carry the header; browsers send the origin of each form. */
function isDownloadForm({ method, path }: Request): boolean {
  return method === 'POST' && /^\/buckets\/[^/]+\/archive$/.test(path);
}

/** Refuses changes that a page of another site may have sent with the user's cookie. */
export function refuseCrossSite(browserUrl: string | undefined): RequestHandler {
  return (request, _response, next) => {
    const origin = request.get('origin');
    const issue = crossSiteReason(
      {
        method: request.method,
        guard: request.get(guardHeader) ?? (isDownloadForm(request) ? origin : undefined),
        origin,
        fetchSite: request.get('sec-fetch-site'),
        host: request.get('host'),
      },
      browserUrl,
    );
    if (issue !== undefined) throw consoleError('CrossSiteRequest', issue);
    next();
  };
}
