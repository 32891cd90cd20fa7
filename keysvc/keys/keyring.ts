import { KeyStoreError, type KeyStore } from '../keystores/keystore.ts';
import { writeKeyRecord } from './key-record.ts';
import { addVersion, deleteVersions, listKeyNames, readVersions, type KeyVersions } from './key-versions.ts';
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
  readonly versions: KeyVersions;
  readonly readAt: number;
  usedAt: number;
}

/** Milliseconds between looks whether a store is there, for the offline cache. */
const probeMs = 10_000;

/** Milliseconds that a read may take before a key of the offline cache serves instead. */
const patienceMs = 3000;

/** The keys of a store, kept in memory for a while. Errors are `KeyStoreError`s. */
export class Keyring {
  readonly #store: KeyStore;
  #expiry: CacheExpiry;
  readonly #now: () => number;
  readonly #cache = new Map<string, Cached>();
  readonly #reading = new Map<string, Promise<KeyVersions>>();
  #sweeper: NodeJS.Timeout;
  readonly #prober: NodeJS.Timeout;
  /** A read that began before a change must not bring back what was before. */
  #changes = 0;
  #isDown = false;

  constructor(store: KeyStore, expiry: CacheExpiry, now: () => number = Date.now) {
    this.#store = store;
    this.#expiry = expiry;
    this.#now = now;
    this.#sweeper = this.#sweepEvery(expiry);
    this.#prober = setInterval(() => {
      if (this.#expiry.offline > 0) void this.look();
    }, probeMs).unref();
  }

  /** For keys that are in memory already too. */
  setExpiry(expiry: CacheExpiry): void {
    this.#expiry = expiry;
    clearInterval(this.#sweeper);
    this.#sweeper = this.#sweepEvery(expiry);
  }

  /** The version that seals. */
  async get(name: string): Promise<Key> {
    return (await this.versions(name)).newest;
  }

  async versions(name: string): Promise<KeyVersions> {
    const cached = this.#cache.get(name);
    if (cached !== undefined && this.#isFresh(cached)) {
      cached.usedAt = this.#now();
      return cached.versions;
    }
    const spare = cached !== undefined && this.#mayServeOffline(cached) ? cached : undefined;
    // Known to be away: nobody waits for it.
    if (spare !== undefined && this.#isDown) return spare.versions;
    const reading = this.#readOnce(name);
    return spare === undefined ? reading : this.#readOrSpare(reading, spare);
  }

  /** From the store in any case: another key server may have added a version. */
  reread(name: string): Promise<KeyVersions> {
    return this.#read(name);
  }

  /** Errors with `exists`. */
  async create(name: string, key: Key): Promise<void> {
    await this.#store.create(name, writeKeyRecord(key));
  }

  /** Adds a version, which seals from now on. Errors with `not-found`. */
  async rotate(name: string, now: Date, by: string | undefined): Promise<KeyVersions> {
    const versions = await addVersion(this.#store, name, now, by);
    this.#forget(name);
    return versions;
  }

  /** Errors with `not-found`. */
  async delete(name: string): Promise<void> {
    try {
      await deleteVersions(this.#store, name);
    } finally {
      this.#forget(name);
    }
  }

  list(): AsyncIterable<string> {
    return listKeyNames(this.#store);
  }

  /** Milliseconds that the store takes to answer, at least 1. */
  async latency(): Promise<number> {
    const start = performance.now();
    await this.#store.probe();
    return Math.max(1, Math.round(performance.now() - start));
  }

  /** Looks whether the store is there. */
  async look(): Promise<void> {
    try {
      await this.#store.probe();
      this.#isDown = false;
    } catch (error) {
      this.#isDown = isOutage(error);
    }
  }

  /** Drops what is too old to be used in any case. */
  sweep(): void {
    for (const [name, cached] of this.#cache) {
      if (!this.#isFresh(cached) && !this.#mayServeOffline(cached)) this.#cache.delete(name);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    clearInterval(this.#prober);
    this.#cache.clear();
    await this.#store.close();
  }

  #forget(name: string): void {
    this.#changes++;
    this.#cache.delete(name);
    this.#reading.delete(name);
  }

  #sweepEvery(expiry: CacheExpiry): NodeJS.Timeout {
    return setInterval(() => this.sweep(), Math.max(1000, Math.min(expiry.unused, expiry.any))).unref();
  }

  #isFresh(cached: Cached): boolean {
    const now = this.#now();
    return now - cached.readAt < this.#expiry.any && now - cached.usedAt < this.#expiry.unused;
  }

  #mayServeOffline(cached: Cached): boolean {
    return this.#now() - cached.readAt < this.#expiry.offline;
  }

  /** Several at the same time share one read. */
  #readOnce(name: string): Promise<KeyVersions> {
    let reading = this.#reading.get(name);
    if (reading === undefined) {
      reading = this.#read(name).finally(() => {
        if (this.#reading.get(name) === reading) this.#reading.delete(name);
      });
      this.#reading.set(name, reading);
    }
    return reading;
  }

  /** The spare one where the store fails, or does not answer soon. */
  async #readOrSpare(reading: Promise<KeyVersions>, spare: Cached): Promise<KeyVersions> {
    const { promise: tooLong, resolve } = Promise.withResolvers<KeyVersions>();
    const timer = setTimeout(() => {
      this.#isDown = true;
      resolve(spare.versions);
    }, patienceMs);
    try {
      return await Promise.race([reading, tooLong]);
    } catch (error) {
      if (isOutage(error)) return spare.versions;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(name: string): Promise<KeyVersions> {
    const readAt = this.#now();
    const changes = this.#changes;
    try {
      const versions = await readVersions(this.#store, name);
      this.#isDown = false;
      if (changes === this.#changes) this.#cache.set(name, { versions, readAt, usedAt: readAt });
      return versions;
    } catch (error) {
      if (error instanceof KeyStoreError && error.code === 'not-found') this.#cache.delete(name);
      if (isOutage(error)) this.#isDown = true;
      throw error;
    }
  }
}

function isOutage(error: unknown): boolean {
  return error instanceof KeyStoreError && (error.code === 'unreachable' || error.code === 'unavailable');
}
