import { randomBytes } from 'node:crypto';
import type { ProviderMetadata } from './discovery.ts';
import { explainFailure } from './explain-failure.ts';
import { OpenIdProblem } from './openid-problem.ts';
import type { ProbeResult } from './probe-client.ts';
import type { ProviderFetch } from './provider-fetch.ts';

/** How much of an error page is searched. Characters. */
const searched = 200_000;

/**
 * Finds out whether the provider sends browsers back to this address, by the request that a sign-in begins with. A provider must not
 * redirect to an address that is not registered for the client, so that it answers with a page of its own that says so.
 * Errors with `OpenIdProblem` (`RedirectRefused`, `Unreachable`).
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
 */
export async function probeRedirect(
  { authorizationEndpoint }: Pick<ProviderMetadata, 'authorizationEndpoint'>,
  { clientId, redirectUri }: { readonly clientId: string; readonly redirectUri: string },
  fetch: ProviderFetch,
): Promise<ProbeResult> {
  const url = new URL(authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid',
    state: randomBytes(12).toString('hex'),
    nonce: randomBytes(12).toString('hex'),
    // RFC 7636: providers may demand it of every client.
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  let response: Response;
  try {
    response = await fetch(url.href, { headers: { accept: 'text/html' } });
  } catch (error) {
    throw explainFailure('Unreachable', 'the authorization endpoint', authorizationEndpoint, error);
  }
  const { status } = response;
  // A page to sign in by, the way to one, or the way back with an error.
  if (status < 400) return { kind: 'accepted' };
  const page = (await response.text()).slice(0, searched);
  if (/redirect[\s_-]?ur[il]/i.test(page)) {
    throw new OpenIdProblem(
      'RedirectRefused',
      `the provider refuses the redirect address "${redirectUri}" for the client "${clientId}"; register it there among the valid redirect addresses.`,
    );
  }
  return {
    kind: 'unclear',
    message: `the authorization endpoint answered ${status} to the redirect address "${redirectUri}": look at ${url.origin}${url.pathname} in a browser.`,
  };
}
