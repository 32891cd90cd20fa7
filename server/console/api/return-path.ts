const longest = 1024;

/**
 * Where the browser goes after signing in: a path of the console itself, or its start page for anything else. Another site's
 * address, a scheme-relative one or one that browsers would read so (`/\host`) must never come out of here.
 */
export function safeReturnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > longest || !wanted.startsWith('/')) return '/';
  const here = 'http://console.invalid';
  if (!URL.canParse(wanted, here)) return '/';
  const url = new URL(wanted, here);
  // Dot segments can leave a path beginning with two slashes behind, which browsers take for another host.
  if (url.origin !== here || url.pathname.startsWith('//')) return '/';
  if (url.pathname.startsWith('/api/') || url.pathname === '/sign-in' || url.pathname === '/oauth_callback') return '/';
  return `${url.pathname}${url.search}${url.hash}`;
}
