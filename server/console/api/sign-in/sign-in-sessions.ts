import { z } from 'zod';
import { sealedKey, type SealedEntry } from '../../../encryption/sealed-records.ts';
import type { Access, Principal, StoredCredentials } from '../../../auth/principal.ts';
import type { ConsoleRecords } from '../../services.ts';
import type { BoughtCredentials, Renew } from './session-credentials.ts';
import { parseJson } from './expired-records.ts';
import { hashOf, randomSecret, secretEqual } from './secret-equal.ts';

export const sessionRoom = 'console-session';

/** Credentials that end sooner than this are renewed at the next call. Milliseconds. */
const renewAheadMs = 30_000;

const signedInBy = z.union([
  z.object({ kind: z.literal('keys') }),
  z.object({ kind: z.literal('directory') }),
  z.object({ kind: z.literal('provider'), id: z.string(), displayName: z.string() }),
]);

const stored = z.object({
  format: z.literal(1),
  accessKey: z.string(),
  /** Of the secret key at the time: a session ends when its secret is replaced. */
  secretHash: z.string(),
  /** Of the provider, where it lets the credentials be renewed without the person. */
  refreshToken: z.string().optional(),
  signedInBy,
  signedInAt: z.number(),
  expires: z.number(),
});

type Stored = z.infer<typeof stored>;
export type SignedInBy = z.infer<typeof signedInBy>;

/** A person who is signed in, with the credentials that everything they do here is decided by. */
export interface SignInSession {
  /** Its record; not the secret in the cookie. */
  readonly id: string;
  readonly credentials: StoredCredentials;
  readonly signedInBy: SignedInBy;
  readonly signedInAt: Date;
  readonly expires: Date;
}

interface SignInSessionsOptions {
  readonly records: ConsoleRecords;
  readonly access: Access;
  readonly durationMs: number;
  readonly renew: Renew;
  readonly clock: () => Date;
}

/**
 * Sessions of the console. They are sealed records under the hash of what the cookie holds, so they survive a restart, work on
 * every replica, and reading the store gives nobody a session. They hold no secret key: credentials are looked up at each use, so
 * a session ends with them. Tokens of providers last minutes, so credentials bought with them are renewed by the refresh token
 * until the session ends: then also the person's policies are those that the provider names now.
 */
export class SignInSessions {
  readonly #options: SignInSessionsOptions;
  /** By session: a page sends several calls at once, and a refresh token may be good once. */
  readonly #renewals = new Map<string, Promise<SignInSession | undefined>>();

  constructor(options: SignInSessionsOptions) {
    this.#options = options;
  }

  /** The secret for the cookie. The session ends after the set duration, or with credentials that nothing renews. */
  async begin(
    bought: BoughtCredentials,
    signedInBy: SignedInBy,
  ): Promise<{ readonly secret: string; readonly session: SignInSession }> {
    const secret = randomSecret();
    const id = hashOf(secret);
    const now = this.#now();
    const longest = now + this.#options.durationMs;
    const renewable = bought.refreshToken !== undefined;
    const expires = renewable ? longest : Math.min(longest, endOf(bought.credentials.principal));
    const value: Stored = { format: 1, ...credentialFields(bought), signedInBy, signedInAt: now, expires };
    await this.#options.records.put(sealedKey(sessionRoom, id), encode(value));
    return { secret, session: sessionOf(id, value, bought.credentials) };
  }

  /** The session of a cookie; undefined when there is none, it expired, or its credentials are gone or have another secret. */
  find(secret: string): Promise<SignInSession | undefined> {
    return this.#load(hashOf(secret));
  }

  async end(id: string): Promise<void> {
    await this.#options.records.delete(sealedKey(sessionRoom, id));
  }

  async #load(id: string): Promise<SignInSession | undefined> {
    const entry = await this.#options.records.get(sealedKey(sessionRoom, id));
    if (entry === undefined) return undefined;
    const value = stored.safeParse(parseJson(entry.value)).data;
    const now = this.#now();
    if (value === undefined || value.expires <= now) return this.#over(id);
    const credentials = await this.#options.access.credentials(value.accessKey);
    const good = credentials !== undefined && secretEqual(value.secretHash, hashOf(credentials.secretKey));
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

  /** While the provider cannot be asked, what is left of the credentials is used; the session stays for when it can. */
  async #renew(id: string, entry: SealedEntry, value: Stored, current: SignInSession | undefined) {
    const { records, renew } = this.#options;
    if (value.signedInBy.kind !== 'provider' || value.refreshToken === undefined) return current;
    const bought = await renew(value.signedInBy.id, value.refreshToken);
    if (bought === 'unavailable') return current;
    if (bought === 'refused') {
      // Another replica may have used the refresh token just now: then the record has changed, and is good.
      const outcome = await records.delete(entry.key, { kind: 'revision', revision: entry.revision });
      return outcome === 'conflict' ? this.#load(id) : undefined;
    }
    const { refreshToken: _used, ...rest } = value;
    const renewed: Stored = { ...rest, ...credentialFields(bought) };
    const expectation = { kind: 'revision', revision: entry.revision } as const;
    const outcome = await records.put(entry.key, encode(renewed), expectation);
    // Signed out, or renewed elsewhere, meanwhile.
    return outcome === 'conflict' ? this.#load(id) : sessionOf(id, renewed, bought.credentials);
  }

  async #over(id: string): Promise<undefined> {
    await this.end(id);
    return undefined;
  }

  #now(): number {
    return this.#options.clock().getTime();
  }
}

function credentialFields({ credentials, refreshToken }: BoughtCredentials) {
  return {
    accessKey: credentials.accessKey,
    secretHash: hashOf(credentials.secretKey),
    ...(refreshToken === undefined ? {} : { refreshToken }),
  };
}

function endOf(principal: Principal): number {
  return principal.kind === 'temporary' ? principal.expiration.getTime() : Number.POSITIVE_INFINITY;
}

function sessionOf(id: string, value: Stored, credentials: StoredCredentials): SignInSession {
  const { signedInBy } = value;
  return { id, credentials, signedInBy, signedInAt: new Date(value.signedInAt), expires: new Date(value.expires) };
}

function encode(value: Stored): Buffer {
  return Buffer.from(JSON.stringify(value));
}
