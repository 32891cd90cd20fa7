import { z } from 'zod';
import { sealedKey } from '../../encryption/sealed-records.ts';
import type { Access, StoredCredentials } from '../../access/principal.ts';
import type { ConsoleRecords } from '../services.ts';
import { parseJson } from './expired-records.ts';
import { hashOf, randomSecret, secretEqual } from './secret-equal.ts';

export const sessionRoom = 'console-session';

const signedInBy = z.union([
  z.object({ kind: z.literal('keys') }),
  z.object({ kind: z.literal('provider'), id: z.string(), displayName: z.string() }),
]);

const stored = z.object({
  format: z.literal(1),
  accessKey: z.string(),
  /** Of the secret key at the time: a session ends when its secret is replaced. */
  secretHash: z.string(),
  signedInBy,
  signedInAt: z.number(),
  expires: z.number(),
});

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

export interface SignInSessionsOptions {
  readonly records: ConsoleRecords;
  readonly access: Access;
  readonly durationMs: number;
  readonly clock: () => Date;
}

/**
 * Sessions of the console. They are sealed records under the hash of what the cookie holds, so they survive a restart, work on
 * every replica, and reading the store gives nobody a session. They hold no secret key: credentials are looked up at each use, so
 * a session ends with them.
 */
export class SignInSessions {
  readonly #options: SignInSessionsOptions;

  constructor(options: SignInSessionsOptions) {
    this.#options = options;
  }

  /** The secret for the cookie, and when it ends: after the set duration, or with temporary credentials. */
  async begin(
    credentials: StoredCredentials,
    signedInBy: SignedInBy,
  ): Promise<{ readonly secret: string; readonly session: SignInSession }> {
    const { records, clock, durationMs } = this.#options;
    const secret = randomSecret();
    const id = hashOf(secret);
    const now = clock().getTime();
    const { principal } = credentials;
    const bound = principal.kind === 'temporary' ? principal.expiration.getTime() : Number.POSITIVE_INFINITY;
    const expires = Math.min(now + durationMs, bound);
    const value: z.infer<typeof stored> = {
      format: 1,
      accessKey: credentials.accessKey,
      secretHash: hashOf(credentials.secretKey),
      signedInBy,
      signedInAt: now,
      expires,
    };
    await records.put(sealedKey(sessionRoom, id), Buffer.from(JSON.stringify(value)));
    return {
      secret,
      session: { id, credentials, signedInBy, signedInAt: new Date(now), expires: new Date(expires) },
    };
  }

  /** The session of a cookie; undefined when there is none, it expired, or its credentials are gone or have another secret. */
  async find(secret: string): Promise<SignInSession | undefined> {
    const { records, access, clock } = this.#options;
    const id = hashOf(secret);
    const entry = await records.get(sealedKey(sessionRoom, id));
    if (entry === undefined) return undefined;
    const session = parse(entry.value);
    const credentials = session === undefined ? undefined : await access.credentials(session.accessKey);
    const good =
      session !== undefined &&
      credentials !== undefined &&
      session.expires > clock().getTime() &&
      secretEqual(session.secretHash, hashOf(credentials.secretKey));
    if (!good) {
      await this.end(id);
      return undefined;
    }
    return {
      id,
      credentials,
      signedInBy: session.signedInBy,
      signedInAt: new Date(session.signedInAt),
      expires: new Date(session.expires),
    };
  }

  async end(id: string): Promise<void> {
    await this.#options.records.delete(sealedKey(sessionRoom, id));
  }
}

function parse(value: Buffer): z.infer<typeof stored> | undefined {
  return stored.safeParse(parseJson(value)).data;
}
