import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { FlattenedJWSInput, JWTHeaderParameters, JWTPayload, JWTVerifyResult } from 'jose';
import { checkTokenForm } from './check-token-form.ts';
import { IdentityProblem } from './identity-problem.ts';
import { unusableKey } from './key-set.ts';
import type { KeySet } from './key-set.ts';
import { OpenIdProblem } from './openid-problem.ts';

export { longestToken } from './check-token-form.ts';

export interface TokenExpectations {
  readonly issuer: string;
  readonly clientId: string;
  readonly keys: Pick<KeySet, 'find'>;
  /** For tokens signed by HMAC: with `hmacAlgorithms`, those that the provider says it uses. */
  readonly clientSecret?: string;
  readonly hmacAlgorithms?: readonly string[];
  readonly clock?: () => Date;
  /** How far the provider's clock may be off. */
  readonly toleranceSeconds?: number;
}

export interface VerifiedToken {
  readonly claims: JWTPayload;
  readonly subject: string;
  readonly issuer: string;
  readonly expiration: Date;
}

/** Milliseconds; a Date holds no more. */
const latestDate = 8.64e15;

const asymmetric = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'];
const hmac = ['HS256', 'HS384', 'HS512'];

/**
 * Checks an access or ID token: signature, issuer, lifetime, audience, subject. Rejects with `IdentityProblem`, or with
 * `OpenIdProblem` where the provider's keys cannot be read.
 *
 * @see https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
 */
export async function verifyToken(token: string, expected: TokenExpectations): Promise<VerifiedToken> {
  checkTokenForm(token);
  const tolerance = expected.toleranceSeconds ?? 10;
  const now = (expected.clock ?? (() => new Date()))();
  const secret = expected.clientSecret;
  const hmacAllowed = secret === undefined ? [] : hmac.filter((alg) => expected.hmacAlgorithms?.includes(alg));
  const key = (header: JWTHeaderParameters, input: FlattenedJWSInput) =>
    secret !== undefined && hmacAllowed.includes(header.alg)
      ? Promise.resolve(new TextEncoder().encode(secret))
      : expected.keys.find(header, input);
  let verified: JWTVerifyResult;
  try {
    verified = await jwtVerify(token, key, {
      algorithms: [...asymmetric, ...hmacAllowed],
      clockTolerance: tolerance,
      currentDate: now,
    });
  } catch (error) {
    throw explain(error, token);
  }
  checkIssueTime(verified.payload, now.getTime() / 1_000 + tolerance);
  return checkClaims(verified.payload, expected);
}

/** A token from the future was made by a clock that is wrong, or to outlive the key that signed it. */
function checkIssueTime({ iat }: JWTPayload, latest: number): void {
  if (iat === undefined || iat <= latest) return;
  throw new IdentityProblem(
    'TokenNotYetValid',
    `The token says that it was issued at ${timestamp(iat)} (iat), which is still to come; compare the clocks.`,
  );
}

function checkClaims(claims: JWTPayload, expected: TokenExpectations): VerifiedToken {
  const { iss, sub, exp } = claims;
  if (iss !== expected.issuer) {
    throw new IdentityProblem(
      'IssuerMismatch',
      `The token was issued by ${JSON.stringify(iss ?? null)} (iss), but the provider's issuer is "${expected.issuer}".`,
    );
  }
  checkAudience(claims, expected.clientId);
  if (typeof sub !== 'string' || sub === '') {
    throw new IdentityProblem('ClaimMissing', 'The token has no subject (sub); at Keycloak the scope "basic" adds it.');
  }
  if (exp === undefined) throw new IdentityProblem('ClaimMissing', 'The token has no expiry (exp).');
  return { claims, subject: sub, issuer: iss, expiration: new Date(Math.min(exp * 1000, latestDate)) };
}

/** Keycloak's access tokens name the client in `azp` alone. */
function checkAudience(claims: JWTPayload, clientId: string): void {
  const audiences = [claims.aud ?? []].flat();
  if (audiences.includes(clientId) || claims['azp'] === clientId) return;
  throw new IdentityProblem(
    'AudienceMismatch',
    `The token is meant for aud ${JSON.stringify(claims.aud ?? null)} (azp ${JSON.stringify(claims['azp'] ?? null)}), ` +
      `not for the client "${clientId}"; get the token with that client, or add an audience mapper for it.`,
  );
}

function explain(error: unknown, token: string): unknown {
  if (error instanceof errors.JWTExpired) {
    const { exp } = error.payload;
    const at = typeof exp === 'number' ? ` at ${timestamp(exp)}` : '';
    return new IdentityProblem('TokenExpired', `The token expired${at}; get a new one from the provider.`);
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.reason === 'check_failed' && error.claim === 'nbf'
      ? new IdentityProblem('TokenNotYetValid', `The token is not valid yet (${error.claim}); compare the clocks.`)
      : new IdentityProblem('TokenMalformed', `The token's claim ${error.claim} is not valid: ${error.message}.`);
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new IdentityProblem(
      'AlgorithmRefused',
      `The token's signature algorithm is not accepted; ${asymmetric.join(', ')} are, and HMAC where discovery lists it.`,
    );
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new IdentityProblem('SignatureInvalid', "The token's signature does not match the provider's key.");
  }
  if (error instanceof errors.JOSEError) {
    return new IdentityProblem('TokenMalformed', `The token is not a signed JWT: ${error.message}.`);
  }
  if (error instanceof IdentityProblem || error instanceof OpenIdProblem) return error;
  // The cryptography refuses the key, not the token.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof DOMException) {
    return unusableKey(decodeProtectedHeader(token), error.message, error);
  }
  return error;
}

/** A date so far out that it cannot be written is given as the number it is. */
function timestamp(seconds: number): string {
  return Math.abs(seconds * 1000) > latestDate ? String(seconds) : new Date(seconds * 1000).toISOString();
}
