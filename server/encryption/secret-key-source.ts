import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import {
  contextBytes,
  contextText,
  type DataKey,
  type EncryptionContext,
  type KeySource,
  type SealedDataKey,
} from './key-source.ts';
import type { KeyCalls, KeyProof } from './key-proof.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { dataKeyLimits, unsealedKeyLimits } from './key-service-keys.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';

/** The one key of `SVC_KMS_SECRET_KEY`. */
export interface SecretKey {
  readonly name: string;
  /** 32 bytes. */
  readonly bytes: Buffer;
}

interface SecretKeySourceOptions {
  readonly random?: (size: number) => Buffer;
  /** Proves each new data key before it seals. */
  readonly proof?: KeyProof;
  /** A monotonic clock in milliseconds. */
  readonly clock?: () => number;
}

const IV_SIZE = 16;
const NONCE_SIZE = 12;
const TAG_SIZE = 16;
const DATA_KEY_SIZE = 32;
const CIPHERTEXT_SIZE = DATA_KEY_SIZE + TAG_SIZE + IV_SIZE + NONCE_SIZE;

/**
 * Data keys under one key of the server's environment, without a key service. They are sealed in the form of the key service. So an
 * administrator may import the key into a key service under the same name, and everything stays readable (a test checks that).
 */
export function secretKeySource(key: SecretKey, options: SecretKeySourceOptions = {}): KeySource {
  const { random = randomBytes, clock = () => performance.now() } = options;
  if (key.bytes.length !== 32) throw new RangeError(`the key ${key.name} has ${key.bytes.length} bytes, not 32`);
  const secret = createSecretKey(key.bytes);
  const version = createHash('sha256').update(key.bytes).digest('hex').slice(0, 32);
  // The limits are those of the key service, so a leaked data key opens no more objects than there.
  const generated = new ExpiringCache<DataKey>(dataKeyLimits, clock);
  const unsealed = new ExpiringCache<Buffer>(unsealedKeyLimits, clock);

  function generateNow(context: Buffer): DataKey {
    const plaintext = random(DATA_KEY_SIZE);
    const [iv, nonce] = [random(IV_SIZE), random(NONCE_SIZE)];
    const cipher = createCipheriv('aes-256-gcm', messageKey(secret, iv), nonce, { authTagLength: TAG_SIZE });
    cipher.setAAD(context);
    const sealed = [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
    const ciphertext = Buffer.concat([...sealed, iv, nonce]);
    return { plaintext, sealed: { keyName: key.name, keyVersion: version, ciphertext: ciphertext.toString('base64') } };
  }

  function unsealNow({ ciphertext: sealed, keyVersion }: SealedDataKey, context: Buffer): Buffer {
    const ciphertext = Buffer.from(sealed, 'base64');
    if (ciphertext.length !== CIPHERTEXT_SIZE) throw notAuthentic('it has another form');
    const nonceAt = CIPHERTEXT_SIZE - NONCE_SIZE;
    const ivAt = nonceAt - IV_SIZE;
    const tagAt = ivAt - TAG_SIZE;
    const iv = ciphertext.subarray(ivAt, nonceAt);
    const decipher = createDecipheriv('aes-256-gcm', messageKey(secret, iv), ciphertext.subarray(nonceAt), {
      authTagLength: TAG_SIZE,
    });
    decipher.setAAD(context);
    decipher.setAuthTag(ciphertext.subarray(tagAt, ivAt));
    try {
      return Buffer.concat([decipher.update(ciphertext.subarray(0, tagAt)), decipher.final()]);
    } catch (error) {
      const other = keyVersion !== undefined && keyVersion !== version;
      throw notAuthentic(
        other ? `it was sealed by ${keyVersion}, and this key is ${version}` : 'it was changed',
        error,
      );
    }
  }

  function notAuthentic(why: string, cause?: unknown): KeyServiceError {
    const options = cause === undefined ? {} : { cause };
    return new KeyServiceError(
      'not-authentic',
      `a data key does not open with the key ${key.name} of SVC_KMS_SECRET_KEY: ${why}`,
      options,
    );
  }

  function unknown(keyName: string): KeyServiceError {
    return new KeyServiceError(
      'key-not-found',
      `there is no key ${keyName}: SVC_KMS_SECRET_KEY gives ${key.name} alone; several keys need a key service`,
    );
  }

  const fresh: KeyCalls = {
    async generate(keyName, context) {
      if (keyName !== key.name) throw unknown(keyName);
      return generateNow(contextBytes(context));
    },
    async open(sealed, context) {
      if (sealed.keyName !== key.name) throw unknown(sealed.keyName);
      return unsealNow(sealed, contextBytes(context));
    },
  };
  const { proof } = options;

  async function generateProven(context: Buffer): Promise<DataKey> {
    const dataKey = generateNow(context);
    await proof?.admit(dataKey.sealed, fresh);
    return dataKey;
  }

  return {
    defaultKey: key.name,
    async generate(keyName, context, { once = false, probe = false } = {}) {
      if (keyName !== key.name) throw unknown(keyName);
      const text = contextText(context);
      if (probe) return generateNow(Buffer.from(text));
      if (once) return generateProven(Buffer.from(text));
      return generated.get(text, keyName, () => generateProven(Buffer.from(text)));
    },
    unseal(sealed: SealedDataKey, context: EncryptionContext) {
      if (sealed.keyName !== key.name) return Promise.reject(unknown(sealed.keyName));
      const text = contextText(context);
      return unsealed.get(`${sealed.ciphertext} ${text}`, key.name, async () => unsealNow(sealed, Buffer.from(text)));
    },
    async checkKey(keyName) {
      if (keyName !== key.name) throw unknown(keyName);
    },
    async check() {
      await proof?.prove(key.name, fresh);
    },
    async proveKey(keyName) {
      await proof?.prove(keyName, fresh);
    },
    async adoptKey(keyName) {
      await proof?.adopt(keyName, fresh);
    },
  };
}

/** Derives a key for each sealed data key, so that random nonces never collide under one key. */
function messageKey(secret: KeyObject, iv: Buffer): Buffer {
  return createHmac('sha256', secret).update(iv).digest();
}
