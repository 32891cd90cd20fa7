/** Only a response over TLS of this very host can set such a cookie: neither a sibling's nor one over plain HTTP is taken for it. */
const hostPrefix = '__Host-';

/**
 * The values of a `Cookie` header, by name. A name that comes with two values has none: one of them another host or path has set, and
 * which of them comes first it decides.
 */
export function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
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

export interface CookieOptions {
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
