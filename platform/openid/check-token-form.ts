import { duplicateKey } from '../../protocol/policy/duplicate-keys.ts';
import { IdentityProblem } from './identity-problem.ts';
import { parseJsonObject } from './json-object.ts';

/** A token longer than this is refused unread; AWS has the same bound. Characters. */
export const longestToken = 20_000;

/** What Keycloak and others write into `typ` of tokens that give nobody access; a claim there, not the header's. */
const otherPurposes = new Set(['Refresh', 'Offline', 'Logout', 'Serialized-ID', 'InitialAccessToken']);

/**
 * Refuses what is no signed JWT of one layer, before a key is looked for: two readers of such a token might see two different things.
 * Rejects with `IdentityProblem` TokenMalformed.
 */
export function checkTokenForm(token: string): void {
  if (token.length > longestToken) throw malformed(`The token is longer than ${longestToken} characters.`);
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
  // An empty signature is left to the check of the algorithm, which names `none`.
  if (signature !== '' && !isBase64Url(signature)) {
    throw malformed('The token is not a signed JWT: its signature is no base64url.');
  }
  checkHeader(readObject('header', header));
  checkPurpose(readObject('payload', payload));
}

/** The lax decoders of runtimes skip what they do not know, so that many texts would stand for one token. */
function isBase64Url(part: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(part) && part.length % 4 !== 1;
}

function readObject(what: 'header' | 'payload', part: string): Record<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(part, 'base64url'));
  } catch (error) {
    const message = `The token is not a signed JWT: its ${what} is no UTF-8.`;
    throw new IdentityProblem('TokenMalformed', message, { cause: error });
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

function malformed(message: string): IdentityProblem {
  return new IdentityProblem('TokenMalformed', message);
}
