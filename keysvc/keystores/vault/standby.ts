import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';

/**
 * Sends a request, and follows the redirect of a standby to the active vault once, with its token.
 *
 * @see https://developer.hashicorp.com/vault/docs/concepts/ha#client-redirection
 */
export async function askFollowing(remote: Remote, endpoint: string, request: RemoteRequest): Promise<RemoteAnswer> {
  const answer = await remote.ask(request);
  if (answer.status !== 307) return answer;
  const active = activeUrl(endpoint, request.url, answer.headers.get('location') ?? '');
  return active === undefined ? answer : remote.ask({ ...request, url: active });
}

/**
 * Returns where a standby sends a request; undefined for an address that must not get the token. TLS stays TLS, and the authorities of the
 * configuration decide about its certificate. The request itself stays the same.
 */
export function activeUrl(endpoint: string, requested: string, location: string): string | undefined {
  if (!URL.canParse(location)) return undefined;
  const [from, base, to] = [new URL(requested), new URL(endpoint), new URL(location)];
  const isSameRequest = to.pathname === from.pathname && to.search === from.search;
  const isSafe = to.protocol === base.protocol && to.username === '' && to.password === '';
  return isSameRequest && isSafe ? to.href : undefined;
}
