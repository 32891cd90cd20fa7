import {
  createLocalJWKSet,
  errors,
  flattenedVerify,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWK,
  type JWSHeaderParameters,
} from 'jose';
import { type LimitedFetch } from '../http/limited-fetch.ts';
import { explainFailure } from './explain-failure.ts';
import { TokenError, OpenIdError } from './errors.ts';
import { parseJsonObject } from './claims.ts';

/** Reports whether a provider signs by this key alone: other parties do not have it. */
export function isForSigning({ kty, use }: JWK): boolean {
  return kty !== 'oct' && use !== 'enc';
}

/** The signing keys of a provider. Its methods reject with `OpenIdError` KeysUnreachable, or `TokenError` KeyUnknown. */
export interface KeySet {
  /** Reads the keys again. */
  load(): Promise<void>;
  /** Returns the keys that were read last. */
  published(): readonly JWK[];
  /**
   * Finds the key that the header of a token names, or the only one that fits. For an unknown key, or one that did not sign a token without a
   * key ID, it reads the keys again, at most every few seconds.
   */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey>;
  /** Reports whether the provider publishes a key by which it signs alone. */
  hasSigningKey(): Promise<boolean>;
}

interface KeySetOptions {
  readonly fetch: LimitedFetch;
  /** Milliseconds of a monotonic clock. If a clock were set back, a new key would not be found and a withdrawn one would stay. */
  readonly clock?: () => number;
  /** Milliseconds. Tokens with unknown key IDs cause at most one request in this time. */
  readonly cooldownMs?: number;
  /** Milliseconds. Older keys are read again before use, so that a withdrawn key is forgotten. */
  readonly maxAgeMs?: number;
  /** Milliseconds. The time after `maxAgeMs` in which keys are still used while the provider is unreachable. */
  readonly graceMs?: number;
}

const minute = 60_000;
const defaults = { cooldownMs: 5_000, maxAgeMs: 10 * minute, graceMs: 60 * minute };

/** Milliseconds after a failed read in which no token waits for another one, if the old keys still count. It is longer than a timeout. */
const awayMs = 30_000;

/** @see https://www.rfc-editor.org/rfc/rfc7517 */
export function createKeySet(jwksUri: string, options: KeySetOptions): KeySet {
  const { fetch, cooldownMs, maxAgeMs, graceMs } = { ...defaults, ...options };
  const clock = options.clock ?? (() => performance.now());
  let published: readonly JWK[] = [];
  let keys: ReturnType<typeof createLocalJWKSet> | undefined;
  let someSigning = false;
  let loadedAt = -Infinity;
  let triedAt = -Infinity;
  let failedAt = -Infinity;
  let loading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const began = clock();
    triedAt = began;
    const found = await readKeys(jwksUri, fetch);
    published = found.keys;
    keys = createLocalJWKSet(found);
    someSigning = published.some(isForSigning);
    loadedAt = began;
  }

  function load(): Promise<void> {
    loading ??= read()
      .catch((error: unknown) => {
        failedAt = clock();
        throw error;
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  }

  const age = () => clock() - loadedAt;
  const cooledDown = () => clock() - triedAt >= cooldownMs;
  const isAway = () => clock() - failedAt < awayMs;

  async function refreshWhenOld(): Promise<void> {
    if (keys !== undefined && age() < maxAgeMs) return;
    if (keys !== undefined && age() < maxAgeMs + graceMs) {
      if (!cooledDown()) return;
      // A provider that hangs would make each sign-in wait for its timeout.
      if (isAway()) {
        load().catch(() => undefined);
        return;
      }
    }
    try {
      await load();
    } catch (error) {
      if (keys === undefined || age() >= maxAgeMs + graceMs) throw error;
    }
  }

  async function match(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<Match> {
    try {
      const key = await keys?.(header, token);
      return key && longEnough(key, header);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      if (error instanceof errors.JWKSMultipleMatchingKeys) return oneOf(error, header, token);
      if (error instanceof TokenError) throw error;
      throw unusableKey(header, error instanceof Error ? error.message : String(error), error);
    }
  }

  return {
    load,
    published: () => published,
    async hasSigningKey() {
      await refreshWhenOld();
      return someSigning;
    },
    async find(header, token) {
      await refreshWhenOld();
      let found = await match(header, token);
      if (found !== 'several' && found !== undefined && (header.kid !== undefined || (await signed(found, token))))
        return found;
      if (cooledDown()) {
        await load();
        found = await match(header, token);
      }
      if (found === 'several')
        throw new TokenError('KeyUnknown', 'The token names no key (kid) and the provider has several that fit.');
      // If it did not sign the token, the verification of the token says so.
      if (found !== undefined) return found;
      throw new TokenError(
        'KeyUnknown',
        `The token is signed by the key ${JSON.stringify(header.kid ?? null)} (${header.alg}), which the provider does not publish at ${jwksUri}.`,
      );
    },
  };
}

/** `several` if the token names no key, so that one alone must fit. */
type Match = CryptoKey | 'several' | undefined;

/** A provider that publishes more keys of one name makes no work here. */
const maxOfOneName = 16;

/**
 * Returns the key of several that fit a token: the usable one or, where the token names a key, the one of that name that signed it. Throws
 * `TokenError` (`KeyUnusable`).
 *
 * @see https://openid.net/specs/openid-connect-core-1_0.html#SigningOrder (10.1: without `kid` one key must fit)
 */
async function oneOf(
  candidates: AsyncIterable<CryptoKey>,
  header: JWSHeaderParameters,
  token: FlattenedJWSInput,
): Promise<Match> {
  const usable: CryptoKey[] = [];
  let unusable: unknown;
  for await (const key of candidates) {
    try {
      usable.push(longEnough(key, header));
    } catch (error) {
      unusable = error;
    }
    if (usable.length === maxOfOneName) break;
  }
  const [first] = usable;
  if (first === undefined && unusable !== undefined) throw unusable;
  if (usable.length < 2) return first;
  if (header.kid === undefined) return 'several';
  for (const key of usable) if (await signed(key, token)) return key;
  // None signed it, which the verification of the token says.
  return first;
}

function signed(key: CryptoKey, token: FlattenedJWSInput): Promise<boolean> {
  return flattenedVerify(token, key).then(
    () => true,
    () => false,
  );
}

/** Bits. @see https://www.rfc-editor.org/rfc/rfc7518#section-3.3 */
const shortestModulus = 2_048;

/** Returns the key. Throws `TokenError` for a short RSA key, which this server does not verify with. */
export function longEnough(key: CryptoKey, header: JWSHeaderParameters): CryptoKey {
  const { modulusLength } = key.algorithm as { readonly modulusLength?: number };
  if (modulusLength === undefined || modulusLength >= shortestModulus) return key;
  throw unusableKey(header, `it is an RSA key of ${modulusLength} bits, and ${shortestModulus} are the least`);
}

/** Makes the error for a published key that verifies nothing. The sender of the token cannot correct that, so the message names the key. */
export function unusableKey(
  { kid, alg }: Pick<JWSHeaderParameters, 'kid' | 'alg'>,
  why: string,
  cause?: unknown,
): TokenError {
  const name = JSON.stringify(kid?.slice(0, 256) ?? null);
  return new TokenError(
    'KeyUnusable',
    `The key ${name} (${alg}) that the provider publishes cannot be used: ${why}. Renew the key at the provider.`,
    { cause },
  );
}

/** Reads the published keys. Rejects with `OpenIdError` KeysUnreachable. */
export async function readKeys(jwksUri: string, fetch: LimitedFetch): Promise<JSONWebKeySet> {
  let response: Response;
  try {
    // The API servers of Kubernetes send keys only for their own media type (RFC 7517, 8.5), and others as any JSON.
    response = await fetch(jwksUri, { headers: { accept: 'application/jwk-set+json, application/json' } });
  } catch (error) {
    throw explainFailure('KeysUnreachable', "the provider's key document", jwksUri, error);
  }
  const document = response.status === 200 ? parse(await response.text()) : undefined;
  if (document === undefined) {
    throw new OpenIdError(
      'KeysUnreachable',
      `the provider's key document at ${jwksUri} answered ${response.status}, and not a JSON Web Key Set; see the log of the provider.`,
    );
  }
  return document;
}

function parse(text: string): JSONWebKeySet | undefined {
  const { keys } = parseJsonObject(text) ?? {};
  return Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null) ? { keys } : undefined;
}
