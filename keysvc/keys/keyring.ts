import { KeyStoreError } from '../keystore/keystore.ts';
import type { KeyStore } from '../keystore/keystore.ts';
import { KeyRecordError, parseKeyRecord, writeKeyRecord } from './key-record.ts';
import type { Key } from './key.ts';

/** How long a key read from the store serves from memory; milliseconds. */
export interface CacheExpiry {
  /** After this it is read again, used or not. */
  readonly any: number;
  /** After this without use it is dropped. */
  readonly unused: number;
  /** While the store cannot be reached, a key serves on up to this age; 0: not at all. */
  readonly offline: number;
}

interface Cached {
  readonly key: Key;
  readonly readAt: number;
  usedAt: number;
}

/** The keys of a store, kept in memory for a while. Errors are `KeyStoreError`s. */
export class Keyring {
  readonly #store: KeyStore;
  #expiry: CacheExpiry;
  readonly #now: () => number;
  readonly #cache = new Map<string, Cached>();
  readonly #reading = new Map<string, Promise<Key>>();
  #sweeper: NodeJS.Timeout;
  /** A read that began before a deletion must not bring the key back. */
  #deletions = 0;

  constructor(store: KeyStore, expiry: CacheExpiry, now: () => number = Date.now) {
    this.#store = store;
    this.#expiry = expiry;
    this.#now = now;
    this.#sweeper = this.#sweepEvery(expiry);
  }

  /** For keys that are in memory already too. */
  setExpiry(expiry: CacheExpiry): void {
    this.#expiry = expiry;
    clearInterval(this.#sweeper);
    this.#sweeper = this.#sweepEvery(expiry);
  }

  async get(name: string): Promise<Key> {
    const cached = this.#cache.get(name);
    if (cached !== undefined && this.#isFresh(cached)) {
      cached.usedAt = this.#now();
      return cached.key;
    }
    let reading = this.#reading.get(name);
    if (reading === undefined) {
      reading = this.#read(name).finally(() => {
        if (this.#reading.get(name) === reading) this.#reading.delete(name);
      });
      this.#reading.set(name, reading);
    }
    try {
      return await reading;
    } catch (error) {
      if (cached !== undefined && isOutage(error) && this.#now() - cached.readAt < this.#expiry.offline)
        return cached.key;
      throw error;
    }
  }

  /** Errors with `exists`. */
  async create(name: string, key: Key): Promise<void> {
    await this.#store.create(name, writeKeyRecord(key));
  }

  /** Errors with `not-found`. */
  async delete(name: string): Promise<void> {
    await this.#store.delete(name);
    this.#deletions++;
    this.#cache.delete(name);
    this.#reading.delete(name);
  }

  list(): AsyncIterable<string> {
    return this.#store.list();
  }

  /** Milliseconds that the store takes to answer, at least 1. */
  async latency(): Promise<number> {
    const start = performance.now();
    await this.#store.probe();
    return Math.max(1, Math.round(performance.now() - start));
  }

  /** Drops what is too old to be used in any case. */
  sweep(): void {
    for (const [name, cached] of this.#cache) {
      if (!this.#isFresh(cached) && this.#now() - cached.readAt >= this.#expiry.offline) this.#cache.delete(name);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#cache.clear();
    await this.#store.close();
  }

  #sweepEvery(expiry: CacheExpiry): NodeJS.Timeout {
    return setInterval(() => this.sweep(), Math.max(1000, Math.min(expiry.unused, expiry.any))).unref();
  }

  #isFresh(cached: Cached): boolean {
    const now = this.#now();
    return now - cached.readAt < this.#expiry.any && now - cached.usedAt < this.#expiry.unused;
  }

  async #read(name: string): Promise<Key> {
    const readAt = this.#now();
    let key: Key;
    const deletions = this.#deletions;
    try {
      const record = await this.#store.get(name);
      key = parseKeyRecord(record);
    } catch (error) {
      if (error instanceof KeyStoreError && error.code === 'not-found') this.#cache.delete(name);
      if (error instanceof KeyRecordError) {
        throw new KeyStoreError('corrupted', `key "${name}": ${error.message}`, { cause: error });
      }
      throw error;
    }
    if (deletions === this.#deletions) this.#cache.set(name, { key, readAt, usedAt: readAt });
    return key;
  }
}

function isOutage(error: unknown): boolean {
  return error instanceof KeyStoreError && (error.code === 'unreachable' || error.code === 'unavailable');
}
