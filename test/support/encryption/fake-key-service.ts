import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { KeyServiceCalls } from '../../../server/encryption/key-service-keys.ts';

class Failure extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`the fake key service answers ${code}`);
    this.code = code;
  }
}

function versionOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

/** A key service in memory, for tests: real sealing, counted calls, failures on demand. */
export class FakeKeyService implements KeyServiceCalls {
  readonly keys = new Map<string, Buffer>([['default-key', randomBytes(32)]]);
  /** Of keys that were rotated: the versions before the one in `keys`. */
  readonly former = new Map<string, readonly Buffer[]>();
  readonly calls: string[] = [];
  /** The code with which every call fails from now on. */
  failing: string | undefined;
  /** The call that its policy does not allow. */
  refusing: string | undefined;

  generateKey(name: string, context: Buffer): Promise<{ plaintext: Buffer; ciphertext: Buffer; version?: string }> {
    return this.#answer(`generate ${name}`, () => {
      const plaintext = randomBytes(32);
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', this.#key(name), nonce).setAAD(context);
      const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      const ciphertext = Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
      return { plaintext, ciphertext, version: versionOf(this.#key(name)) };
    });
  }

  decryptKey(name: string, ciphertext: Buffer, context: Buffer): Promise<Buffer> {
    return this.#answer(`decrypt ${name}`, () => {
      for (const key of [this.#key(name), ...(this.former.get(name) ?? [])]) {
        const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, 12));
        decipher.setAAD(context).setAuthTag(ciphertext.subarray(12, 28));
        try {
          return Buffer.concat([decipher.update(ciphertext.subarray(28)), decipher.final()]);
        } catch {
          // Of another version, perhaps.
        }
      }
      throw new Failure('not-authentic');
    });
  }

  /** A new version of a key; its ID. */
  rotateKey(name: string): Promise<string> {
    return this.#answer(`rotate ${name}`, () => {
      this.former.set(name, [...(this.former.get(name) ?? []), this.#key(name)]);
      const key = randomBytes(32);
      this.keys.set(name, key);
      return versionOf(key);
    });
  }

  /** The IDs of the versions of a key, the oldest first. */
  versionsOf(name: string): Promise<readonly string[]> {
    return this.#answer(`describe ${name}`, () => {
      const newest = this.#key(name);
      return [...(this.former.get(name) ?? []), newest].map(versionOf);
    });
  }

  createKey(name: string): Promise<void> {
    return this.#answer(`create ${name}`, () => {
      if (this.keys.has(name)) throw new Failure('key-exists');
      this.keys.set(name, randomBytes(32));
    });
  }

  async #answer<T>(call: string, answer: () => T): Promise<T> {
    this.calls.push(call);
    await Promise.resolve();
    if (this.failing !== undefined) throw new Failure(this.failing);
    if (this.refusing !== undefined && call.startsWith(`${this.refusing} `)) throw new Failure('not-permitted');
    return answer();
  }

  #key(name: string): Buffer {
    const key = this.keys.get(name);
    if (key === undefined) throw new Failure('key-not-found');
    return key;
  }
}
