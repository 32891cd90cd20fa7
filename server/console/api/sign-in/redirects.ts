import { callbackOf } from '../../../federation/callback-address.ts';

interface RedirectChoice {
  /** `redirect_uri_dynamic` of the provider. */
  readonly dynamic: boolean;
  /** `redirect_uri` of the provider. */
  readonly fixed: string | undefined;
  /** `SVC_BROWSER_REDIRECT_URL`. */
  readonly browserUrl: string | undefined;
  /** The address that the console listens on, if it is a single one. */
  readonly ownUrl: string | undefined;
  /** The origin that the browser used, for example `https://console.example`. */
  readonly usedUrl: string;
  /** `SVC_BROWSER_REDIRECT_HOSTS`: the allowed hosts of a dynamic redirect; empty: all that the provider allows. */
  readonly allowedHosts: readonly string[];
}

/**
 * Returns the redirect URI. The provider compares it with those that are registered for the client, and so refuses a forged Host
 * header.
 */
export function redirectUri(choice: RedirectChoice): string {
  if (choice.dynamic && isAllowed(choice)) return callbackOf(choice.usedUrl);
  if (choice.fixed !== undefined) return choice.fixed;
  return callbackOf(choice.browserUrl ?? choice.ownUrl ?? choice.usedUrl);
}

/** The host of `browserUrl` is always allowed: the administrator configured it. */
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

/** The origin that the browser used. A proxy that terminates TLS sends `X-Forwarded-Proto`. */
export function usedUrl(request: {
  readonly host: string | undefined;
  readonly forwardedProto: string | undefined;
  readonly encrypted: boolean;
}): string {
  const forwarded = request.forwardedProto?.split(',')[0]?.trim().toLowerCase();
  const scheme = forwarded === 'https' || (forwarded !== 'http' && request.encrypted) ? 'https' : 'http';
  const host = request.host ?? '';
  // No other character is allowed, since it could end the authority of the URL.
  return `${scheme}://${/^[A-Za-z0-9._:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}

const maxReturnPathLength = 1024;

/**
 * Returns the path to which the browser goes after the sign-in; the start page if the wanted one is not a page of the console. The
 * result is never a URL of another site, a scheme-relative URL, or one that browsers read so (`/\host`).
 */
export function safeReturnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > maxReturnPathLength || !wanted.startsWith('/')) return '/';
  const here = 'http://console.invalid';
  if (!URL.canParse(wanted, here)) return '/';
  const url = new URL(wanted, here);
  // Removed dot segments can leave a path that begins with two slashes, which browsers take for another host.
  if (url.origin !== here || url.pathname.startsWith('//')) return '/';
  if (url.pathname.startsWith('/api/') || url.pathname === '/sign-in' || url.pathname === '/oauth_callback') return '/';
  return `${url.pathname}${url.search}${url.hash}`;
}
