import { KeyError, type KeyStore } from '../../../keysvc/keystores/keystore.ts';

/** Keys that die with the process: for tests, which can also make it fail. */
export class MemoryKeyStore implements KeyStore {
  readonly #records = new Map<string, Buffer>();
  /** How many times a record was read and found: what a cache saves. */
  reads = 0;
  /** Thrown by every call while set. */
  failure: KeyError | undefined;

  async create(name: string, record: Buffer): Promise<void> {
    this.#maybeFail();
    if (this.#records.has(name)) throw new KeyError('exists', `${name} exists already`);
    this.#records.set(name, Buffer.from(record));
  }

  async get(name: string): Promise<Buffer> {
    this.#maybeFail();
    const record = this.#records.get(name);
    if (record === undefined) throw new KeyError('not-found', `${name} does not exist`);
    this.reads++;
    return Buffer.from(record);
  }

  async delete(name: string): Promise<void> {
    this.#maybeFail();
    if (!this.#records.delete(name)) throw new KeyError('not-found', `${name} does not exist`);
  }

  async *list(): AsyncIterable<string> {
    this.#maybeFail();
    yield* this.#records.keys();
  }

  async probe(): Promise<void> {
    this.#maybeFail();
  }

  async close(): Promise<void> {}

  #maybeFail(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}
