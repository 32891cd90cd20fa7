import { explainFailure } from './explain-failure.ts';
import { IdentityProblem } from './identity-problem.ts';
import { parseJsonObject } from './json-object.ts';
import type { ProviderFetch } from './provider-fetch.ts';

/**
 * The claims of the userinfo endpoint. Rejects with `IdentityProblem` UserinfoRefused, or `OpenIdProblem` where it is unreachable.
 *
 * @see https://openid.net/specs/openid-connect-core-1_0.html#UserInfo
 */
export async function readUserinfo(
  endpoint: string,
  bearer: string,
  subject: string,
  fetch: ProviderFetch,
): Promise<Record<string, unknown>> {
  let response: Response;
  try {
    response = await fetch(endpoint, { headers: { authorization: `Bearer ${bearer}`, accept: 'application/json' } });
  } catch (error) {
    throw explainFailure('Unreachable', 'the userinfo endpoint', endpoint, error);
  }
  const claims = response.status === 200 ? parseJsonObject(await response.text()) : undefined;
  if (claims === undefined) {
    throw new IdentityProblem(
      'UserinfoRefused',
      `The userinfo endpoint ${endpoint} answered ${response.status} to the token, and no claims; it takes access tokens only.`,
    );
  }
  // Without this, somebody else's access token would lend its claims to this subject.
  if (claims['sub'] !== subject) {
    throw new IdentityProblem(
      'UserinfoRefused',
      'The userinfo endpoint answered for another subject than the token has.',
    );
  }
  return claims;
}

/** Adds claims of userinfo to those of the token; what was signed in the token stays. */
export function mergeUserinfo(
  token: Readonly<Record<string, unknown>>,
  userinfo: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return { ...userinfo, ...token };
}
