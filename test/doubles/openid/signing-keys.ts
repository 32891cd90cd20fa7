import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';

export type SigningAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'ES256' | 'ES384' | 'ES512';

interface SigningKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** The provider's keys: signs with the newest, publishes as many as it keeps. */
export class ProviderKeys {
  readonly #keys: SigningKey[] = [];
  #made = 0;

  static async create(alg: SigningAlgorithm): Promise<ProviderKeys> {
    const keys = new ProviderKeys();
    await keys.rotate(alg);
    return keys;
  }

  /** Makes a new key the signing one; those before it stay published unless `forget`. */
  async rotate(alg: SigningAlgorithm, { forget = false } = {}): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    this.#made += 1;
    const kid = `key-${this.#made}`;
    if (forget) this.#keys.length = 0;
    this.#keys.push({ kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } });
  }

  get published(): { keys: JWK[] } {
    return { keys: this.#keys.map((key) => key.jwk) };
  }

  /** The signing key, for what `sign` would not make. */
  get newest(): SigningKey {
    const key = this.#keys.at(-1);
    if (key === undefined) throw new Error('there is no signing key');
    return key;
  }

  sign(payload: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
    const key = this.newest;
    return new SignJWT(payload)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
      .sign(key.privateKey);
  }
}
