import { z } from 'zod';
import { sealedKey } from '../../../encryption/sealed-records.ts';
import type { ConsoleRecords } from '../../services.ts';
import { parseJson } from './expired-records.ts';
import { hashOf, randomSecret } from './secrets.ts';
import { timingSafeEqual } from '../../../../protocol/timing-safe-equal.ts';

export const pendingPrefix = 'console-sign-in';

/** The maximum time at the identity provider. */
export const pendingLifetimeMs = 10 * 60_000;

const pending = z.object({
  format: z.literal(1),
  providerId: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  redirectUri: z.string(),
  returnPath: z.string(),
  /** The hash of the secret in the cookie of the browser that started the sign-in. */
  browserHash: z.string(),
  expires: z.number(),
});

export type PendingSignIn = Omit<z.infer<typeof pending>, 'format' | 'browserHash' | 'expires'>;

/** The reason why the answer of a provider does not belong to a sign-in of this browser. */
export type PendingError = 'unknown' | 'expired' | 'other-browser';

/**
 * Sign-ins that wait for the identity provider. They are sealed records, so that every replica can finish them. Each is valid once,
 * for ten minutes, and in the browser that started it.
 */
export class PendingSignIns {
  readonly #records: ConsoleRecords;
  readonly #clock: () => Date;

  constructor(records: ConsoleRecords, clock: () => Date) {
    this.#records = records;
    this.#clock = clock;
  }

  /** `state` goes to the provider, `browserSecret` into a cookie. */
  async begin(signIn: PendingSignIn): Promise<{ readonly state: string; readonly browserSecret: string }> {
    const [state, browserSecret] = [randomSecret(), randomSecret()];
    const expires = this.#clock().getTime() + pendingLifetimeMs;
    const value: z.infer<typeof pending> = { ...signIn, format: 1, browserHash: hashOf(browserSecret), expires };
    await this.#records.put(sealedKey(pendingPrefix, hashOf(state)), Buffer.from(JSON.stringify(value)), {
      kind: 'absent',
    });
    return { state, browserSecret };
  }

  async take(state: string, browserSecret: string | undefined): Promise<PendingSignIn | PendingError> {
    const key = sealedKey(pendingPrefix, hashOf(state));
    const entry = await this.#records.get(key);
    const found = entry === undefined ? undefined : parse(entry.value);
    if (entry === undefined || found === undefined) return 'unknown';
    // The record stays: the browser that started the sign-in can still finish it.
    if (browserSecret === undefined || !timingSafeEqual(found.browserHash, hashOf(browserSecret)))
      return 'other-browser';
    const outcome = await this.#records.delete(key, { kind: 'revision', revision: entry.revision });
    if (outcome === 'conflict') return 'unknown';
    return found.expires > this.#clock().getTime() ? found : 'expired';
  }
}

function parse(value: Buffer): z.infer<typeof pending> | undefined {
  return pending.safeParse(parseJson(value)).data;
}
