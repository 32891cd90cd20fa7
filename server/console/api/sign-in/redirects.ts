interface RedirectChoice {
  /** `redirect_uri_dynamic` of the provider. */
  readonly dynamic: boolean;
  /** `redirect_uri` of the provider. */
  readonly fixed: string | undefined;
  /** `SVC_BROWSER_REDIRECT_URL`. */
  readonly browserUrl: string | undefined;
  /** The address the console listens on, where that is one. */
  readonly ownUrl: string | undefined;
  /** The address that the browser used, e.g. `https://console.example`. */
  readonly usedUrl: string;
  /** `SVC_BROWSER_REDIRECT_HOSTS`: where a dynamic redirect may lead; none: wherever the provider lets it. */
  readonly allowedHosts: readonly string[];
}

/**
 * The address that the identity provider sends the browser back to. The provider compares it with those registered for the client,
 * so a Host header that somebody made up ends there.
 */
export function redirectUri(choice: RedirectChoice): string {
  if (choice.dynamic && isAllowed(choice)) return callbackOf(choice.usedUrl);
  if (choice.fixed !== undefined) return choice.fixed;
  return callbackOf(choice.browserUrl ?? choice.ownUrl ?? choice.usedUrl);
}

/** The host of the browser's own address is always good: it is set, not sent. */
function isAllowed({ usedUrl, browserUrl, allowedHosts }: RedirectChoice): boolean {
  if (allowedHosts.length === 0) return true;
  const { host, hostname } = new URL(usedUrl);
  if (browserUrl !== undefined && new URL(browserUrl).host === host) return true;
  return allowedHosts.some((allowed) => {
    const wanted = allowed.toLowerCase();
    if (wanted.startsWith('*.')) return hostname.endsWith(wanted.slice(1)) && hostname.length > wanted.length - 1;
    return wanted === host || wanted === hostname;
  });
}

function callbackOf(base: string): string {
  return `${base.replace(/\/+$/, '')}/oauth_callback`;
}

/** The origin that a request was sent to as the browser sees it; a proxy that ends TLS says so by `X-Forwarded-Proto`. */
export function usedUrl(request: {
  readonly host: string | undefined;
  readonly forwardedProto: string | undefined;
  readonly encrypted: boolean;
}): string {
  const forwarded = request.forwardedProto?.split(',')[0]?.trim().toLowerCase();
  const scheme = forwarded === 'https' || (forwarded !== 'http' && request.encrypted) ? 'https' : 'http';
  const host = request.host ?? '';
  // Letters, digits and what addresses and ports need: nothing that could end the authority of a URL.
  return `${scheme}://${/^[A-Za-z0-9._:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}

const maxReturnPathLength = 1024;

/**
 * Where the browser goes after signing in: a path of the console itself, or its start page for anything else. Another site's
 * address, a scheme-relative one or one that browsers would read so (`/\host`) must never come out of here.
 */
export function safeReturnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > maxReturnPathLength || !wanted.startsWith('/')) return '/';
  const here = 'http://console.invalid';
  if (!URL.canParse(wanted, here)) return '/';
  const url = new URL(wanted, here);
  // Dot segments can leave a path beginning with two slashes behind, which browsers take for another host.
  if (url.origin !== here || url.pathname.startsWith('//')) return '/';
  if (url.pathname.startsWith('/api/') || url.pathname === '/sign-in' || url.pathname === '/oauth_callback') return '/';
  return `${url.pathname}${url.search}${url.hash}`;
}
