import type { Request, RequestHandler } from 'express';
import type { ConsoleSettings } from '../services.ts';
import { isSecure } from './secure.ts';

/** Mantine writes its variables into a style element, so styles may be inline; scripts may not. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What stored objects are served under: whatever they contain, they never run as part of the console. */
export const objectSecurityPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

/** Seconds; a year. */
const strictTransport = 'max-age=31536000';

/** A browser that once came over TLS keeps to it: not for localhost, whose other ports belong to other programs. */
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
