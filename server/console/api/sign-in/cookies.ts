import type { Request, Response } from 'express';

/** Only a response over TLS of this very host can set such a cookie: neither a sibling's nor one over plain HTTP is taken for it. */
const hostPrefix = '__Host-';

/**
 * The values of a `Cookie` header, by name. A name that comes with two values has none: one of them another host or path has set, and
 * which of them comes first it decides.
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

/** A cookie that `serializeCookie` wrote for a browser that comes over TLS, or does not. */
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
 * A `Set-Cookie` value that scripts cannot read and other sites' requests do not carry, save for plain navigation: the way back
 * from an identity provider is such a navigation, so `Strict` would lose it.
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
 * Why a sign-in failed, carried from the provider's answer to the sign-in page in a cookie: in the address, anybody could put
 * words of their own on that page.
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
