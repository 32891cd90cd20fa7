import { randomBytes } from 'node:crypto';
import { canaryContext, type KeyCanary } from '../../protocol/key-service/canary.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';
import { commitOnce } from '../store/commits.ts';
import type { RecordStore } from '../store/record-store.ts';
import { canariesRecord, digestOf, encodeCanaries, listCanaries, readCanaries } from './key-canaries.ts';
import type { DataKey, EncryptionContext, SealedDataKey } from './key-source.ts';

/** Calls of the key service, none of them answered from a cache. Errors are `KeyServiceError`s. */
export interface KeyCalls {
  generate(keyName: string, context: EncryptionContext): Promise<DataKey>;
  open(sealed: SealedDataKey, context: EncryptionContext): Promise<Buffer>;
}

interface KeyProofOptions {
  readonly records: RecordStore;
  readonly random?: (size: number) => Buffer;
}

/** The times that a change of the record is tried while others change it, or the key is rotated meanwhile. */
const ATTEMPTS = 10;

/**
 * Proves that the keys of the key service are those under which data was sealed. The canaries in the records are the authority. A data
 * key of a version without a canary seals nothing until the key has opened its other canaries.
 */
export class KeyProof {
  readonly #records: RecordStore;
  readonly #random: (size: number) => Buffer;
  /** The canaries that this thread has opened or made. */
  readonly #opened = new Set<string>();

  constructor({ records, random = randomBytes }: KeyProofOptions) {
    this.#records = records;
    this.#random = random;
  }

  /**
   * Resolves when a new data key may seal: its version has a canary that opens. The first data key of a key, and of each version after a
   * rotation, makes the canary. Rejects with `wrong-key` if the key service has another key of this name.
   */
  async admit({ keyName, keyVersion }: SealedDataKey, calls: KeyCalls): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const found = await readCanaries(this.#records, keyName);
      const canaries = found?.canaries ?? [];
      const known = canaries.find(({ version }) => version === keyVersion);
      if (known !== undefined && this.#opened.has(known.ciphertext)) return;
      // A version that is new to this server is the key's only if the same key opens what its other versions sealed.
      for (const canary of known === undefined ? canaries : [known]) await this.#open(keyName, canary, calls);
      if (known !== undefined) return;
      const made = await makeCanary(keyName, calls);
      // The key was rotated between the two calls: the next attempt gets its newest version again.
      if (made.version !== keyVersion) continue;
      const record = canariesRecord(keyName);
      const expect =
        found === undefined
          ? { kind: 'absent' as const, key: record }
          : { kind: 'revision' as const, key: record, revision: found.revision };
      const put = [{ key: record, value: encodeCanaries([...canaries, made]) }];
      const { kind } = await commitOnce(this.#records, { expect: [expect], put }, this.#random);
      if (kind !== 'committed') continue;
      this.#opened.add(made.ciphertext);
      return;
    }
    throw new KeyServiceError(
      'unavailable',
      `the key ${keyName} changes its version with every call: do all endpoints of the key service have the same keys?`,
    );
  }

  /** Makes the canary of a key that has none, once data that it sealed was opened. Does nothing if the key has canaries. */
  async adopt(keyName: string, calls: KeyCalls): Promise<void> {
    if ((await readCanaries(this.#records, keyName)) !== undefined) return;
    const { version } = await makeCanary(keyName, calls);
    await this.admit({ keyName, keyVersion: version, ciphertext: '' }, calls);
  }

  /** Opens every canary of a key now. Rejects with the reason, `wrong-key` if the key is another one. */
  async prove(keyName: string, calls: KeyCalls): Promise<void> {
    const found = await readCanaries(this.#records, keyName);
    for (const canary of found?.canaries ?? []) await this.#open(keyName, canary, calls);
  }

  /** The canaries of every key under which anything was sealed. */
  list(): ReturnType<typeof listCanaries> {
    return listCanaries(this.#records);
  }

  async #open(keyName: string, canary: KeyCanary, calls: KeyCalls): Promise<void> {
    const { version, ciphertext, digest } = canary;
    let plaintext: Buffer;
    try {
      plaintext = await calls.open({ keyName, keyVersion: version, ciphertext }, canaryContext(keyName));
    } catch (error) {
      this.#opened.delete(ciphertext);
      if (error instanceof KeyServiceError && error.code === 'not-authentic') throw wrongKey(keyName, version, error);
      throw error;
    }
    if (digestOf(plaintext) !== digest) {
      this.#opened.delete(ciphertext);
      throw wrongKey(keyName, version);
    }
    this.#opened.add(ciphertext);
  }
}

async function makeCanary(keyName: string, calls: KeyCalls): Promise<KeyCanary> {
  const { plaintext, sealed } = await calls.generate(keyName, canaryContext(keyName));
  const { keyVersion, ciphertext } = sealed;
  return { ...(keyVersion === undefined ? {} : { version: keyVersion }), ciphertext, digest: digestOf(plaintext) };
}

function wrongKey(keyName: string, version: string | undefined, cause?: Error): KeyServiceError {
  return new KeyServiceError(
    'wrong-key',
    `the key ${keyName} of the key service is not the one that sealed data here (${version === undefined ? 'no version is known' : `version ${version}`} ` +
      'does not open): changed or wrong key. Give the key service back the keys that it had; nothing is sealed under this one',
    cause === undefined ? {} : { cause },
  );
}
