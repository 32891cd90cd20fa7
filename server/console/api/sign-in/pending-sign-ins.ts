import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { sealedKey } from '../../../encryption/sealed-records.ts';
import type { ConsoleRecords } from '../../services.ts';
import { parseJson } from './expired-records.ts';
import { hashOf, randomSecret } from './secrets.ts';
import { timingSafeEqual } from '../../../../protocol/timing-safe-equal.ts';

/** Sign-ins that were finished, until they would have expired. */
export const finishedPrefix = 'console-sign-in';
const keyRecord = sealedKey('console-sign-in-key');

/** The maximum time at the identity provider. */
export const pendingLifetimeMs = 10 * 60_000;

/** Characters. Browsers drop a cookie of more than 4,096, and a longer path of return is the start page. */
const maxReturnPath = 1_800;

const pending = z.object({
  providerId: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  redirectUri: z.string(),
  returnPath: z.string(),
  state: z.string(),
  expires: z.number(),
});

export type PendingSignIn = Omit<z.infer<typeof pending>, 'state' | 'expires'>;

/** The reason why the answer of a provider does not belong to a sign-in of this browser. */
export type PendingError = 'unknown' | 'expired' | 'other-browser';

/**
 * Sign-ins that wait for the identity provider. The browser keeps each one in a cookie, sealed under a key that all replicas share, so that
 * every replica can finish it and the server stores nothing for callers that are not authenticated. Each is valid once, for ten minutes,
 * and in the browser that started it.
 */
export class PendingSignIns {
  readonly #records: ConsoleRecords;
  readonly #clock: () => Date;
  #key: Buffer | undefined;

  constructor(records: ConsoleRecords, clock: () => Date) {
    this.#records = records;
    this.#clock = clock;
  }

  /** `state` goes to the provider, `cookie` to the browser. */
  async begin(signIn: PendingSignIn): Promise<{ readonly state: string; readonly cookie: string }> {
    const state = randomSecret();
    const expires = this.#clock().getTime() + pendingLifetimeMs;
    const returnPath = signIn.returnPath.length > maxReturnPath ? '/' : signIn.returnPath;
    const value: z.infer<typeof pending> = { ...signIn, returnPath, state, expires };
    return { state, cookie: seal(await this.#sharedKey(), Buffer.from(JSON.stringify(value))) };
  }

  /** Returns the sign-in of a cookie. The provider is asked next, and then `finish` makes sure that there is one session alone. */
  async find(state: string, cookie: string | undefined): Promise<PendingSignIn | PendingError> {
    const opened = cookie === undefined ? undefined : open(await this.#sharedKey(), cookie);
    const found = opened === undefined ? undefined : pending.safeParse(parseJson(opened)).data;
    if (found === undefined || !timingSafeEqual(found.state, state)) return 'other-browser';
    if (found.expires <= this.#clock().getTime()) return 'expired';
    return (await this.#records.get(finishedKey(state))) === undefined ? found : 'unknown';
  }

  /** Ends a sign-in whose code the provider has accepted. Returns false if another request has ended it. */
  async finish(state: string): Promise<boolean> {
    const expires = this.#clock().getTime() + pendingLifetimeMs;
    const value = Buffer.from(JSON.stringify({ format: 1, expires }));
    return (await this.#records.put(finishedKey(state), value, { kind: 'absent' })) === 'committed';
  }

  /** The key is made at the first sign-in of a deployment. Of two replicas that make one, the first wins. */
  async #sharedKey(): Promise<Buffer> {
    this.#key ??= (await this.#records.get(keyRecord))?.value;
    if (this.#key === undefined) {
      await this.#records.put(keyRecord, randomBytes(32), { kind: 'absent' });
      this.#key = (await this.#records.get(keyRecord))?.value;
    }
    if (this.#key === undefined) throw new Error('the key of sign-ins was removed while it was made: sign in again');
    return this.#key;
  }
}

function finishedKey(state: string): ReturnType<typeof sealedKey> {
  return sealedKey(finishedPrefix, hashOf(state));
}

const nonceSize = 12;
const tagSize = 16;

function seal(key: Buffer, plain: Buffer): string {
  const nonce = randomBytes(nonceSize);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

/** Returns undefined for what `seal` did not make with this key. */
function open(key: Buffer, sealed: string): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < nonceSize + tagSize) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceSize), { authTagLength: tagSize });
  decipher.setAuthTag(bytes.subarray(-tagSize));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceSize, -tagSize)), decipher.final()]);
  } catch {
    return undefined;
  }
}
