import { createLocalJWKSet, type JWK } from 'jose';
import { OpenIdError } from './errors.ts';
import { isForSigning, longEnough, readKeys } from './key-set.ts';
import type { LimitedFetch } from '../http/limited-fetch.ts';
import { acceptedAlgorithms, hmacAlgorithms } from './verify-token.ts';

interface ProvenProvider {
  readonly jwksUri: string;
  /** The discovery document, whose `id_token_signing_alg_values_supported` counts. */
  readonly document: Readonly<Record<string, unknown>>;
}

/** Reads the keys of a provider, and checks them by `checkKeys`. Rejects with `OpenIdError` (`KeysUnreachable`, `KeysUnusable`). */
export async function proveKeys(
  provider: ProvenProvider,
  client: { readonly clientSecret?: string | undefined },
  fetch: LimitedFetch,
): Promise<void> {
  await checkKeys((await readKeys(provider.jwksUri, fetch)).keys, provider, client);
}

/**
 * Rejects with `OpenIdError` (`KeysUnusable`) unless a token that is signed by one of the keys could be verified. It asks for each key as the
 * verification of a token does. A provider without keys may sign by HMAC with the secret of the client.
 */
export async function checkKeys(
  keys: readonly JWK[],
  { jwksUri, document }: ProvenProvider,
  { clientSecret }: { readonly clientSecret?: string | undefined },
): Promise<void> {
  const reasons: string[] = [];
  for (const key of keys) {
    const reason = await reasonAgainst(key);
    if (reason === undefined) return;
    reasons.push(`${nameOf(key)}: ${reason}`);
  }
  const listed: unknown = document['id_token_signing_alg_values_supported'];
  const signsByHmac = Array.isArray(listed) && hmacAlgorithms.some((algorithm) => listed.includes(algorithm));
  if (clientSecret !== undefined && signsByHmac && !keys.some(isForSigning)) return;
  throw new OpenIdError(
    'KeysUnusable',
    `no key at ${jwksUri} can verify a token (${reasons.slice(0, 10).join('; ') || 'there is none'}); ` +
      `let the provider sign by one of ${acceptedAlgorithms.join(', ')}.`,
  );
}

/** Returns why no token that this key signed could be verified; undefined if one could. */
async function reasonAgainst(key: JWK): Promise<string | undefined> {
  const { alg, kid, kty, use } = key;
  if (!isForSigning(key)) return use === 'enc' ? 'it is for encryption' : 'it is a symmetric key';
  const fitting = acceptedAlgorithms.filter((one) => alg === undefined || one === alg);
  if (fitting.length === 0) return `its algorithm is ${JSON.stringify(alg)}`;
  let reason = `its type is ${JSON.stringify(kty ?? null)}${key.crv === undefined ? '' : ` (${JSON.stringify(key.crv)})`}`;
  for (const algorithm of fitting) {
    try {
      const header = { alg: algorithm, ...(kid === undefined ? {} : { kid }) };
      longEnough(await createLocalJWKSet({ keys: [key] })(header, { payload: '', signature: '' }), header);
      return undefined;
    } catch (error) {
      // The error of a key that does not fit the algorithm says less than the type of the key.
      if (error instanceof Error && !isMismatch(error)) reason = error.message.replace(/\.$/, '');
    }
  }
  return reason;
}

function isMismatch(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_JWKS_NO_MATCHING_KEY';
}

function nameOf({ kid }: JWK): string {
  return typeof kid === 'string' ? JSON.stringify(kid.slice(0, 64)) : 'a key without a name';
}
