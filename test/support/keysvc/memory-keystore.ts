import { KeyError, type KeyStore } from '../../../keysvc/keystores/keystore.ts';

/** A key store in memory, whose calls a test can make fail. */
export class MemoryKeyStore implements KeyStore {
  readonly #records = new Map<string, Buffer>();
  /** The number of successful reads, which a cache reduces. */
  reads = 0;
  /** Thrown by every call while it is set. */
  failure: KeyError | undefined;
  /** Thrown for the record of this name. */
  readonly failures = new Map<string, KeyError>();

  async create(name: string, record: Buffer): Promise<void> {
    this.#maybeFail();
    if (this.#records.has(name)) throw new KeyError('exists', `${name} exists already`);
    this.#records.set(name, Buffer.from(record));
  }

  async get(name: string): Promise<Buffer> {
    this.#maybeFail();
    const failure = this.failures.get(name);
    if (failure !== undefined) throw failure;
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
