import { type LimitedFetch } from '../http/limited-fetch.ts';
import { explainFailure } from './explain-failure.ts';
import { OpenIdError, TokenError } from './errors.ts';

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
 * Reads the claims of the userinfo endpoint. Rejects with `TokenError` UserinfoRefused if the endpoint refuses the token, and with
 * `OpenIdError` for any other answer, which says nothing about the token.
 *
 * @see https://openid.net/specs/openid-connect-core-1_0.html#UserInfo
 */
export async function readUserinfo(
  endpoint: string,
  bearer: string,
  subject: string,
  fetch: LimitedFetch,
): Promise<Record<string, unknown>> {
  let response: Response;
  try {
    response = await fetch(endpoint, { headers: { authorization: `Bearer ${bearer}`, accept: 'application/json' } });
  } catch (error) {
    throw explainFailure('Unreachable', 'the userinfo endpoint', endpoint, error);
  }
  const document = parseJsonObject(await response.text());
  if (refusesToken(response, document)) {
    throw new TokenError(
      'UserinfoRefused',
      `The userinfo endpoint ${endpoint} ${reasonOfRefusal(response.status, document)}`,
    );
  }
  if (response.status !== 200 || document === undefined) {
    throw new OpenIdError('UnexpectedStatus', `the userinfo endpoint ${endpoint} ${reasonOfFailure(response)}`);
  }
  const claims = document;
  // Without this check the access token of another user would give its claims to this subject.
  if (claims['sub'] !== subject) {
    throw new TokenError('UserinfoRefused', 'The userinfo endpoint answered for another subject than the token has.');
  }
  return claims;
}

/**
 * Reports whether the endpoint itself refuses the token. A gateway sends the same statuses, without the words of OAuth.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3
 */
function refusesToken({ status, headers }: Response, document: Record<string, unknown> | undefined): boolean {
  const challenge = headers.get('www-authenticate');
  if (challenge !== null) return (status === 401 || status === 403) && /^(?:Bearer|DPoP)\b/i.test(challenge);
  return status === 401 || ((status === 400 || status === 403) && typeof document?.['error'] === 'string');
}

function reasonOfRefusal(status: number, document: Record<string, unknown> | undefined): string {
  const error = document?.['error'];
  const said = typeof error === 'string' ? `${status} ${error.slice(0, 100)}` : String(status);
  return status === 403
    ? `allows the token no claims (${said}): get it with the scope openid, and with those that the claims need.`
    : `does not take the token (${said}): it takes access tokens that have not ended, and no ID tokens.`;
}

function reasonOfFailure({ status, headers }: Response): string {
  if (status === 200 && /^application\/jwt\b/i.test(headers.get('content-type') ?? ''))
    return 'answered by a signed token (application/jwt): let it answer this client by JSON (userinfo_signed_response_alg), or put the claims into the token.';
  if (status === 429 || status >= 500) return `answered ${status}: try again in a moment.`;
  return `answered ${status}, and no claims; see the log of the provider.`;
}

/** Adds the claims of userinfo to those of the token. A claim of the signed token wins. */
export function mergeUserinfo(
  token: Readonly<Record<string, unknown>>,
  userinfo: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return { ...userinfo, ...token };
}
