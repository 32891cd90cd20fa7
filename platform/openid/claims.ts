import { explainFailure, type ProviderFetch } from './provider-fetch.ts';
import { TokenError } from './errors.ts';

/** Parses a JSON object. Returns undefined for anything else. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The separators of a path. Keycloak's users write `realm_access.roles`. */
const separator = /[/.]/g;

/**
 * Finds a claim by its name, or by a path with `/` or `.` into nested claims: `kubernetes.io/serviceaccount/name`, `realm_access.roles`. A
 * claim whose own name contains a separator comes first.
 */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (const { index } of path.matchAll(separator)) {
    const name = path.slice(0, index);
    const inner = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (isObject(inner)) return claimAt(inner, path.slice(index + 1));
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads the claims of the userinfo endpoint. Rejects with `TokenError` UserinfoRefused, or `OpenIdError` if it is unreachable.
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
    throw new TokenError(
      'UserinfoRefused',
      `The userinfo endpoint ${endpoint} answered ${response.status} to the token, and no claims; it takes access tokens only.`,
    );
  }
  // Without this check the access token of another user would give its claims to this subject.
  if (claims['sub'] !== subject) {
    throw new TokenError('UserinfoRefused', 'The userinfo endpoint answered for another subject than the token has.');
  }
  return claims;
}

/** Adds the claims of userinfo to those of the token. A claim of the signed token wins. */
export function mergeUserinfo(
  token: Readonly<Record<string, unknown>>,
  userinfo: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return { ...userinfo, ...token };
}
