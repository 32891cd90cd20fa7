import { z } from 'zod';
import { sealedKey } from '../../../encryption/sealed-records.ts';
import type { ConsoleRecords } from '../../services.ts';
import { parseJson } from './expired-records.ts';
import { hashOf, randomSecret, secretEqual } from './secret-equal.ts';

export const pendingRoom = 'console-sign-in';

/** Time a person has at the identity provider. Milliseconds. */
export const pendingLifetimeMs = 10 * 60_000;

const pending = z.object({
  format: z.literal(1),
  providerId: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  redirectUri: z.string(),
  returnPath: z.string(),
  /** Of the secret in the cookie of the browser that began. */
  browserHash: z.string(),
  expires: z.number(),
});

export type PendingSignIn = Omit<z.infer<typeof pending>, 'format' | 'browserHash' | 'expires'>;

/** Why an answer of a provider belongs to no sign-in that this browser began. */
export type PendingProblem = 'unknown' | 'expired' | 'other-browser';

/**
 * Sign-ins whose person is away at the identity provider: sealed records, so that any replica can finish what another began.
 * Each is taken once, within ten minutes, by the browser that began it.
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
    await this.#records.put(sealedKey(pendingRoom, hashOf(state)), Buffer.from(JSON.stringify(value)), {
      kind: 'absent',
    });
    return { state, browserSecret };
  }

  async take(state: string, browserSecret: string | undefined): Promise<PendingSignIn | PendingProblem> {
    const key = sealedKey(pendingRoom, hashOf(state));
    const entry = await this.#records.get(key);
    const found = entry === undefined ? undefined : parse(entry.value);
    if (entry === undefined || found === undefined) return 'unknown';
    // Another browser's answer leaves the record: whoever began may still finish.
    if (browserSecret === undefined || !secretEqual(found.browserHash, hashOf(browserSecret))) return 'other-browser';
    const outcome = await this.#records.delete(key, { kind: 'revision', revision: entry.revision });
    if (outcome === 'conflict') return 'unknown';
    return found.expires > this.#clock().getTime() ? found : 'expired';
  }
}

function parse(value: Buffer): z.infer<typeof pending> | undefined {
  return pending.safeParse(parseJson(value)).data;
}
