import { duplicateKey } from '../../protocol/policy/duplicate-keys.ts';
import { TokenError, OpenIdError } from './errors.ts';
import { parseJsonObject } from './claims.ts';
import {
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type FlattenedJWSInput,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyResult,
} from 'jose';
import { unusableKey, type KeySet } from './key-set.ts';

/** The maximum length of a token in characters, which is also the limit of AWS. */
export const maxTokenLength = 20_000;

/** The values of the claim `typ` in tokens of Keycloak and others that grant no access. This is a claim, not the field of the header. */
const otherPurposes = new Set(['Refresh', 'Offline', 'Logout', 'Serialized-ID', 'InitialAccessToken']);

/**
 * Refuses everything but a signed JWT of one layer, before it searches a key: two parsers of another token could read two different things.
 * Throws `TokenError` TokenMalformed.
 */
function checkTokenForm(token: string): void {
  if (token.length > maxTokenLength) throw malformed(`The token is longer than ${maxTokenLength} characters.`);
  const parts = token.split('.');
  if (parts.length === 5)
    throw malformed('The token is encrypted (a JWE of five parts); send one that is signed only.');
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw malformed(`The token has ${parts.length} parts; a signed JWT has three, separated by dots.`);
  }
  for (const part of parts.slice(0, 2)) {
    if (!isBase64Url(part)) throw malformed('The token is not a signed JWT: a part of it is no base64url.');
  }
  // The check of the algorithm refuses an empty signature and names `none`.
  if (signature !== '' && !isBase64Url(signature)) {
    throw malformed('The token is not a signed JWT: its signature is no base64url.');
  }
  checkHeader(readObject('header', header));
  checkPurpose(readObject('payload', payload));
}

/** The decoders of runtimes skip unknown characters, so that many texts would be the same token. */
function isBase64Url(part: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(part) && part.length % 4 !== 1;
}

function readObject(what: 'header' | 'payload', part: string): Record<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(part, 'base64url'));
  } catch (error) {
    const message = `The token is not a signed JWT: its ${what} is no UTF-8.`;
    throw new TokenError('TokenMalformed', message, { cause: error });
  }
  const object = parseJsonObject(text);
  if (object === undefined) throw malformed(`The token is not a signed JWT: its ${what} is no JSON object.`);
  const twice = duplicateKey(text);
  if (twice !== undefined) {
    throw malformed(
      `The token's ${what} has ${JSON.stringify(twice.slice(0, 64))} twice: nobody can say which counts.`,
    );
  }
  return object;
}

function checkHeader(header: Record<string, unknown>): void {
  const { typ, cty, alg, crit } = header;
  if (typeof alg !== 'string') throw malformed('The token does not say how it is signed (alg).');
  if (crit !== undefined) throw malformed('The token has critical headers (crit), of which none is known here.');
  if (typeof typ === 'string' && /^logout\+jwt$/i.test(typ)) {
    throw malformed('The token is a logout token, which gives nobody access.');
  }
  if (cty !== undefined) throw malformed('The token holds another token (cty); send that one.');
}

function checkPurpose({ typ }: Record<string, unknown>): void {
  if (typeof typ === 'string' && otherPurposes.has(typ)) {
    throw malformed(`The token is for another purpose (typ ${typ}); send the access token or the ID token.`);
  }
}

function malformed(message: string): TokenError {
  return new TokenError('TokenMalformed', message);
}

export interface TokenExpectations {
  readonly issuer: string;
  readonly clientId: string;
  /** Another client whose tokens are accepted too. */
  readonly otherClientId?: string;
  readonly keys: Pick<KeySet, 'find' | 'hasSigningKey'>;
  /** The key of tokens that are signed by HMAC, together with `hmacAlgorithms`, which the provider lists. It counts if no key is published. */
  readonly clientSecret?: string;
  readonly hmacAlgorithms?: readonly string[];
  readonly clock?: () => Date;
  /** The tolerated clock difference of the provider. */
  readonly toleranceSeconds?: number;
}

export interface VerifiedToken {
  readonly claims: JWTPayload;
  readonly subject: string;
  readonly issuer: string;
  readonly expiration: Date;
}

/** The maximum of a Date in milliseconds. */
const latestDate = 8.64e15;

/** The algorithms of tokens that are signed by keys of the provider. */
const rsaAndCurves = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'];
/** EdDSA with Ed25519 has two names. @see https://www.rfc-editor.org/rfc/rfc9864 */
export const acceptedAlgorithms = [...rsaAndCurves, 'EdDSA', 'Ed25519'];
/** The algorithms that sign by the secret of the client. */
export const hmacAlgorithms = ['HS256', 'HS384', 'HS512'];

/**
 * Verifies an access or ID token: signature, issuer, lifetime, audience, subject. Rejects with `TokenError`, or with `OpenIdError`
 * if the keys of the provider cannot be read.
 *
 * @see https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
 */
export async function verifyToken(token: string, expected: TokenExpectations): Promise<VerifiedToken> {
  checkTokenForm(token);
  const tolerance = expected.toleranceSeconds ?? 10;
  const now = (expected.clock ?? (() => new Date()))();
  const secret = expected.clientSecret;
  const hmacAllowed =
    secret === undefined ? [] : hmacAlgorithms.filter((alg) => expected.hmacAlgorithms?.includes(alg));
  await refuseSharedKey(token, hmacAllowed, expected.keys);
  const key = (header: JWTHeaderParameters, input: FlattenedJWSInput) =>
    secret !== undefined && hmacAllowed.includes(header.alg)
      ? Promise.resolve(new TextEncoder().encode(secret))
      : expected.keys.find(header, input);
  let verified: JWTVerifyResult;
  try {
    verified = await jwtVerify(token, key, {
      algorithms: [...acceptedAlgorithms, ...hmacAllowed],
      clockTolerance: tolerance,
      currentDate: now,
    });
  } catch (error) {
    throw explain(error, token, now);
  }
  checkIssueTime(verified.payload, now, tolerance);
  return checkClaims(verified.payload, expected);
}

/**
 * Refuses HMAC where the provider has keys of its own. Each application of the client has the client secret, and could write tokens for any
 * user. Keycloak lists HMAC for all clients and never signs by their secrets.
 */
async function refuseSharedKey(
  token: string,
  hmacAllowed: readonly string[],
  keys: Pick<KeySet, 'hasSigningKey'>,
): Promise<void> {
  const { alg } = decodeProtectedHeader(token);
  if (alg === undefined || !hmacAllowed.includes(alg) || !(await keys.hasSigningKey())) return;
  throw new TokenError(
    'AlgorithmRefused',
    `The token is signed by ${alg} with the client secret, which applications have too, though the provider publishes keys; ` +
      `let it sign by one of ${acceptedAlgorithms.join(', ')}.`,
  );
}

/** Refuses a token from the future. A wrong clock made it, or it is meant to outlive its key. */
function checkIssueTime({ iat }: JWTPayload, now: Date, tolerance: number): void {
  if (iat === undefined || iat <= now.getTime() / 1_000 + tolerance) return;
  throw new TokenError(
    'TokenNotYetValid',
    `The token says that it was issued at ${timestamp(iat)} (iat), and it is ${now.toISOString()} here; compare the clocks.`,
  );
}

function checkClaims(claims: JWTPayload, expected: TokenExpectations): VerifiedToken {
  const { iss, sub, exp } = claims;
  if (iss !== expected.issuer) {
    throw new TokenError(
      'IssuerMismatch',
      `The token was issued by ${JSON.stringify(iss ?? null)} (iss), but the provider's issuer is "${expected.issuer}".`,
    );
  }
  checkAudience(claims, expected);
  if (typeof sub !== 'string' || sub === '') {
    throw new TokenError('ClaimMissing', 'The token has no subject (sub); at Keycloak the scope "basic" adds it.');
  }
  if (exp === undefined) throw new TokenError('ClaimMissing', 'The token has no expiry (exp).');
  return { claims, subject: sub, issuer: iss, expiration: new Date(Math.min(exp * 1000, latestDate)) };
}

/** Checks the audience. Keycloak's access tokens name the client in `azp` only. */
function checkAudience(claims: JWTPayload, { clientId, otherClientId }: TokenExpectations): void {
  const audiences = [claims.aud ?? []].flat();
  const isMeant = (client: string) => audiences.includes(client) || claims['azp'] === client;
  if (isMeant(clientId) || (otherClientId !== undefined && isMeant(otherClientId))) return;
  throw new TokenError(
    'AudienceMismatch',
    `The token is meant for aud ${JSON.stringify(claims.aud ?? null)} (azp ${JSON.stringify(claims['azp'] ?? null)}), ` +
      `not for the client "${clientId}"; get the token with that client, or add an audience mapper for it.`,
  );
}

function explain(error: unknown, token: string, now: Date): unknown {
  if (error instanceof errors.JWTExpired) {
    const { exp } = error.payload;
    const at = typeof exp === 'number' ? ` at ${timestamp(exp)}` : '';
    return new TokenError(
      'TokenExpired',
      `The token expired${at}, and it is ${now.toISOString()} here; get a new one from the provider.`,
    );
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { nbf } = error.payload;
    return error.reason === 'check_failed' && error.claim === 'nbf' && typeof nbf === 'number'
      ? new TokenError(
          'TokenNotYetValid',
          `The token is valid from ${timestamp(nbf)} on (nbf), and it is ${now.toISOString()} here; compare the clocks.`,
        )
      : new TokenError('TokenMalformed', `The token's claim ${error.claim} is not valid: ${error.message}.`);
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new TokenError(
      'AlgorithmRefused',
      `The token's signature algorithm is not accepted; ${acceptedAlgorithms.join(', ')} are, and HMAC where discovery lists it.`,
    );
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new TokenError('SignatureInvalid', "The token's signature does not match the provider's key.");
  }
  if (error instanceof errors.JOSEError) {
    return new TokenError('TokenMalformed', `The token is not a signed JWT: ${error.message}.`);
  }
  if (error instanceof TokenError || error instanceof OpenIdError) return error;
  // The library refuses the key, not the token.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof DOMException) {
    return unusableKey(decodeProtectedHeader(token), error.message, error);
  }
  return error;
}

/** Writes a date, or the number for a date beyond the range of Date. */
function timestamp(seconds: number): string {
  return Math.abs(seconds * 1000) > latestDate ? String(seconds) : new Date(seconds * 1000).toISOString();
}
