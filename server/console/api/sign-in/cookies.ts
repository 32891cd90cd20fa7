import type { Request, Response } from 'express';

/** Browsers accept a cookie with this prefix only from this host and over TLS. @see RFC 6265bis, section 4.1.3.2 */
const hostPrefix = '__Host-';

/**
 * Parses a `Cookie` header. A name with two values is left out: another host or path set one of them, and the order of the two
 * is not defined.
 */
function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  const doubtful = new Set<string>();
  for (const pair of (header ?? '').slice(0, 16_384).split(';')) {
    const at = pair.indexOf('=');
    if (at < 1) continue;
    const name = pair.slice(0, at).trim();
    const value = pair.slice(at + 1).trim();
    if (cookies.has(name) && cookies.get(name) !== value) doubtful.add(name);
    cookies.set(name, value);
  }
  for (const name of doubtful) cookies.delete(name);
  return cookies;
}

/** Reads a cookie of `serializeCookie`. */
export function readCookie(header: string | undefined, name: string, secure: boolean): string | undefined {
  return parseCookies(header).get(cookieName(name, secure));
}

function cookieName(name: string, secure: boolean): string {
  return secure ? `${hostPrefix}${name}` : name;
}

interface CookieOptions {
  /** Seconds; 0 removes the cookie. */
  readonly maxAge: number;
  readonly secure: boolean;
}

/**
 * A `Set-Cookie` value. Scripts cannot read the cookie, and requests of other sites carry it for navigations alone: the return from an
 * identity provider is one, which `Strict` would exclude.
 */
export function serializeCookie(name: string, value: string, { maxAge, secure }: CookieOptions): string {
  const attributes = [
    `${cookieName(name, secure)}=${value}`,
    'Path=/',
    `Max-Age=${maxAge}`,
    'HttpOnly',
    'SameSite=Lax',
  ];
  return [...attributes, ...(secure ? ['Secure'] : [])].join('; ');
}

const noticeCookie = 'coffer_notice';
const maxNoticeLength = 1500;
const noticeLifetimeSeconds = 120;

/**
 * Passes the message of a failed sign-in to the sign-in page in a cookie. In the URL, any site could put its own text on that page.
 */
export function setNotice(response: Response, message: string, secure: boolean): void {
  const value = Buffer.from(message.slice(0, maxNoticeLength)).toString('base64url');
  response.append('set-cookie', serializeCookie(noticeCookie, value, { maxAge: noticeLifetimeSeconds, secure }));
}

export function clearNotice(response: Response, secure: boolean): void {
  response.append('set-cookie', serializeCookie(noticeCookie, '', { maxAge: 0, secure }));
}

export function readNotice(request: Request, secure: boolean): string | undefined {
  const value = readCookie(request.headers.cookie, noticeCookie, secure);
  return value === undefined || value === ''
    ? undefined
    : Buffer.from(value, 'base64url').toString('utf8').slice(0, maxNoticeLength);
}
