/** The values of a `Cookie` header, by name; the first of a name counts. */
export function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (header ?? '').slice(0, 16_384).split(';')) {
    const at = pair.indexOf('=');
    if (at < 1) continue;
    const name = pair.slice(0, at).trim();
    if (!cookies.has(name)) cookies.set(name, pair.slice(at + 1).trim());
  }
  return cookies;
}

export interface CookieOptions {
  /** Seconds; 0 removes the cookie. */
  readonly maxAge: number;
  readonly path: string;
  readonly secure: boolean;
}

/**
 * A `Set-Cookie` value that scripts cannot read and other sites' requests do not carry, save for plain navigation: the way back
 * from an identity provider is such a navigation, so `Strict` would lose it.
 */
export function serializeCookie(name: string, value: string, { maxAge, path, secure }: CookieOptions): string {
  const attributes = [`${name}=${value}`, `Path=${path}`, `Max-Age=${maxAge}`, 'HttpOnly', 'SameSite=Lax'];
  return [...attributes, ...(secure ? ['Secure'] : [])].join('; ');
}
