import type { RequestHandler } from 'express';

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

export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  });
  next();
};
