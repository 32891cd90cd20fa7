import { z } from 'zod';
import { decodeKey } from '../../../store/keys.ts';
import { sealedKey, sealedWithin, type SealedEntry } from '../../../encryption/sealed-records.ts';
import { type Access, displayNameOf, type Principal, type StoredCredentials } from '../../../auth/principal.ts';
import type { ConsoleRecords } from '../../services.ts';
import type { IssuedCredentials, Renew } from './session-credentials.ts';
import { parseJson } from './expired-records.ts';
import { hashOf, randomSecret } from './secrets.ts';
import { timingSafeEqual } from '../../../../protocol/timing-safe-equal.ts';

export const sessionPrefix = 'console-session';

/** Credentials that expire sooner than this are renewed by the next call. */
const renewAheadMs = 30_000;

const signedInBy = z.union([
  z.object({ kind: z.literal('keys') }),
  z.object({ kind: z.literal('directory') }),
  z.object({ kind: z.literal('provider'), id: z.string(), displayName: z.string() }),
]);

const stored = z.object({
  format: z.literal(1),
  accessKey: z.string(),
  /** The hash of the secret key at the sign-in. The session ends when the secret key is replaced. */
  secretHash: z.string(),
  /** The refresh token of the provider, if it issued one. */
  refreshToken: z.string().optional(),
  /** The ID token of the sign-in, by which the provider knows the session that a sign-out ends. */
  idToken: z.string().optional(),
  /** The display name; absent in records of older servers. */
  name: z.string().optional(),
  signedInBy,
  signedInAt: z.number(),
  expires: z.number(),
});

type Stored = z.infer<typeof stored>;
export type SignedInBy = z.infer<typeof signedInBy>;

/** A session with the credentials that authorize its calls. */
export interface SignInSession {
  /** The key of the record, which is not the secret in the cookie. */
  readonly id: string;
  readonly credentials: StoredCredentials;
  readonly signedInBy: SignedInBy;
  readonly signedInAt: Date;
  readonly expires: Date;
  readonly idToken: string | undefined;
}

/** A session as administrators see it. */
export interface ListedSession {
  readonly id: string;
  readonly accessKey: string;
  readonly name: string | undefined;
  readonly signedInBy: SignedInBy;
  readonly signedInAt: Date;
  readonly expires: Date;
}

/** Longer ID tokens are not kept: the provider then asks the user to confirm the sign-out. */
const maxIdToken = 8_192;

interface SignInSessionsOptions {
  readonly records: ConsoleRecords;
  readonly access: Access;
  readonly durationMs: number;
  readonly renew: Renew;
  readonly clock: () => Date;
}

/**
 * Sessions of the console. They are sealed records under the hash of the cookie's secret: they survive a restart, work on every
 * replica, and a reader of the store gets no session. They contain no secret key. The credentials are looked up for each call, so that
 * a session ends with them. Tokens of providers are valid for minutes. The refresh token renews the credentials until the session
 * ends, with the policies that the provider then names.
 */
export class SignInSessions {
  readonly #options: SignInSessionsOptions;
  /** The renewals in progress, by session. A page sends concurrent calls, and a refresh token may be valid once. */
  readonly #renewals = new Map<string, Promise<SignInSession | undefined>>();

  constructor(options: SignInSessionsOptions) {
    this.#options = options;
  }

  /** Returns the secret for the cookie. The session ends after the configured duration, or with credentials that cannot be renewed. */
  async begin(
    issued: IssuedCredentials,
    signedInBy: SignedInBy,
  ): Promise<{ readonly secret: string; readonly session: SignInSession }> {
    const secret = randomSecret();
    const id = hashOf(secret);
    const now = this.#now();
    const maxExpiry = now + this.#options.durationMs;
    const renewable = issued.refreshToken !== undefined;
    const expires = renewable ? maxExpiry : Math.min(maxExpiry, endOf(issued.credentials.principal));
    const { principal } = issued.credentials;
    const name = principal.kind === 'anonymous' ? undefined : displayNameOf(principal);
    const value: Stored = { format: 1, ...credentialFields(issued), name, signedInBy, signedInAt: now, expires };
    await this.#options.records.put(sealedKey(sessionPrefix, id), encode(value));
    return { secret, session: sessionOf(id, value, issued.credentials) };
  }

  /** Finds the session of a cookie; undefined if it does not exist or expired, or if its credentials were removed or got another secret. */
  find(secret: string): Promise<SignInSession | undefined> {
    return this.#load(hashOf(secret));
  }

  /** Finds the session of background work by its ID, as `find` does. */
  findById(id: string): Promise<SignInSession | undefined> {
    return this.#load(id);
  }

  async end(id: string): Promise<void> {
    await this.#options.records.delete(sealedKey(sessionPrefix, id));
  }

  /** Yields the sessions that have not expired, in the order of their IDs. */
  async *list(): AsyncGenerator<ListedSession> {
    for await (const { key, value } of this.#options.records.scan(sealedWithin(sessionPrefix))) {
      const found = stored.safeParse(parseJson(value)).data;
      const id = decodeKey(key).at(-1)?.toString() ?? '';
      if (found !== undefined && found.expires > this.#now()) yield listed(id, found);
    }
  }

  /** Finds a session by its ID; undefined if it does not exist or expired. */
  async one(id: string): Promise<ListedSession | undefined> {
    const entry = await this.#options.records.get(sealedKey(sessionPrefix, id));
    const found = entry && stored.safeParse(parseJson(entry.value)).data;
    return found !== undefined && found.expires > this.#now() ? listed(id, found) : undefined;
  }

  async #load(id: string): Promise<SignInSession | undefined> {
    const entry = await this.#options.records.get(sealedKey(sessionPrefix, id));
    if (entry === undefined) return undefined;
    const value = stored.safeParse(parseJson(entry.value)).data;
    const now = this.#now();
    if (value === undefined || value.expires <= now) return this.#over(id);
    const credentials = await this.#options.access.credentials(value.accessKey);
    const good = credentials !== undefined && timingSafeEqual(value.secretHash, hashOf(credentials.secretKey));
    const current = good ? sessionOf(id, value, credentials) : undefined;
    if (value.refreshToken === undefined) return current ?? this.#over(id);
    if (current !== undefined && endOf(current.credentials.principal) - now > renewAheadMs) return current;
    return this.#renewOnce(id, entry, value, current);
  }

  #renewOnce(id: string, entry: SealedEntry, value: Stored, current: SignInSession | undefined) {
    const underWay = this.#renewals.get(id);
    if (underWay !== undefined) return underWay;
    const renewal = this.#renew(id, entry, value, current).finally(() => this.#renewals.delete(id));
    this.#renewals.set(id, renewal);
    return renewal;
  }

  /** While the provider does not answer, the session stays, and the credentials are used until they expire. */
  async #renew(id: string, entry: SealedEntry, value: Stored, current: SignInSession | undefined) {
    const { records, renew } = this.#options;
    if (value.signedInBy.kind !== 'provider' || value.refreshToken === undefined) return current;
    const renewal = await renew(value.signedInBy.id, value.refreshToken);
    const expectation = { kind: 'revision', revision: entry.revision } as const;
    if (renewal.kind === 'unavailable') {
      const { refreshToken } = renewal;
      if (refreshToken !== value.refreshToken)
        await records.put(entry.key, encode({ ...value, refreshToken }), expectation);
      return current;
    }
    if (renewal.kind === 'refused') {
      // If another replica used the refresh token meanwhile, the record has changed and is valid.
      const outcome = await records.delete(entry.key, expectation);
      return outcome === 'conflict' ? this.#load(id) : undefined;
    }
    const { issued } = renewal;
    const { refreshToken: _used, ...rest } = value;
    const renewed: Stored = { ...rest, ...credentialFields(issued) };
    const outcome = await records.put(entry.key, encode(renewed), expectation);
    // The session was ended or renewed meanwhile.
    return outcome === 'conflict' ? this.#load(id) : sessionOf(id, renewed, issued.credentials);
  }

  async #over(id: string): Promise<undefined> {
    await this.end(id);
    return undefined;
  }

  #now(): number {
    return this.#options.clock().getTime();
  }
}

function listed(id: string, { accessKey, name, signedInBy, signedInAt, expires }: Stored): ListedSession {
  return { id, accessKey, name, signedInBy, signedInAt: new Date(signedInAt), expires: new Date(expires) };
}

function credentialFields({ credentials, refreshToken, idToken = '' }: IssuedCredentials) {
  return {
    ...(idToken === '' || idToken.length > maxIdToken ? {} : { idToken }),
    accessKey: credentials.accessKey,
    secretHash: hashOf(credentials.secretKey),
    refreshToken,
  };
}

function endOf(principal: Principal): number {
  return principal.kind === 'temporary' ? principal.expiration.getTime() : Number.POSITIVE_INFINITY;
}

function sessionOf(id: string, value: Stored, credentials: StoredCredentials): SignInSession {
  const { signedInBy, idToken } = value;
  const times = { signedInAt: new Date(value.signedInAt), expires: new Date(value.expires) };
  return { id, credentials, signedInBy, idToken, ...times };
}

function encode(value: Stored): Buffer {
  return Buffer.from(JSON.stringify(value));
}
