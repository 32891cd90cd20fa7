import { isOutage, KeyError, type KeyStore } from '../keystores/keystore.ts';
import { writeKeyRecord } from './key-record.ts';
import { addVersion, deleteVersions, listKeyNames, readVersions, type KeyVersions } from './key-versions.ts';
import type { Key } from './key.ts';

/** The times that a key serves from memory, in milliseconds. */
export interface CacheExpiry {
  /** The key is read again after this time. */
  readonly any: number;
  /** An unused key is dropped after this time. */
  readonly unused: number;
  /** While the store is unavailable, a key serves until this age; 0 disables this. */
  readonly offline: number;
}

interface Cached {
  readonly versions: KeyVersions;
  readonly readAt: number;
  usedAt: number;
}

/** Milliseconds between probes of the store, for the offline cache. */
const probeMs = 10_000;

/** The timeout of a read in milliseconds, when the offline cache has the key. */
const readTimeoutMs = 3000;

/** Milliseconds for which a policy for a single key is believed: each refusal is a line in the audit log of the store. */
const refusalMs = 3_600_000;

/** The keys of a store, with a cache in memory. Errors are `KeyError`s. */
export class Keyring {
  readonly #store: KeyStore;
  #expiry: CacheExpiry;
  readonly #now: () => number;
  readonly #cache = new Map<string, Cached>();
  readonly #reading = new Map<string, Promise<KeyVersions>>();
  /** The refusals of later versions, by key. */
  readonly #refusals = new Map<string, { readonly refusal: KeyError; readonly at: number }>();
  #sweeper: NodeJS.Timeout;
  readonly #prober: NodeJS.Timeout;
  /** Prevents a read that began before a change from caching the old state. */
  #changes = 0;
  #isDown = false;

  /** @param now a monotonic clock in milliseconds: if a clock were set back, a deleted key would stay in the cache */
  constructor(store: KeyStore, expiry: CacheExpiry, now: () => number = () => performance.now()) {
    this.#store = store;
    this.#expiry = expiry;
    this.#now = now;
    this.#sweeper = this.#sweepEvery(expiry);
    this.#prober = setInterval(() => {
      if (this.#expiry.offline > 0) void this.probe();
    }, probeMs).unref();
  }

  /** Applies to cached keys too. */
  setExpiry(expiry: CacheExpiry): void {
    this.#expiry = expiry;
    clearInterval(this.#sweeper);
    this.#sweeper = this.#sweepEvery(expiry);
  }

  /** Returns the version that encrypts. */
  async get(name: string): Promise<Key> {
    return (await this.versions(name)).newest;
  }

  async versions(name: string): Promise<KeyVersions> {
    const cached = this.#cache.get(name);
    if (cached !== undefined && this.#isFresh(cached)) {
      cached.usedAt = this.#now();
      return cached.versions;
    }
    const cachedKey = cached !== undefined && this.#mayServeOffline(cached) ? cached : undefined;
    // The store is known to be unavailable, so no caller waits for it.
    if (cachedKey !== undefined && this.#isDown) return cachedKey.versions;
    const reading = this.#readOnce(name);
    return cachedKey === undefined ? reading : this.#readOrCached(reading, cachedKey);
  }

  /** Reads the key from the store, since another key server may have added a version. */
  reread(name: string): Promise<KeyVersions> {
    this.#refusals.delete(name);
    return this.#read(name);
  }

  /** @throws KeyError `exists` */
  async create(name: string, key: Key): Promise<void> {
    await this.#store.create(name, writeKeyRecord(key));
  }

  /**
   * Adds a version, which encrypts from now on.
   *
   * @throws KeyError `not-found`
   */
  async rotate(name: string, now: Date, by: string | undefined): Promise<KeyVersions> {
    const versions = await addVersion(this.#store, name, now, by);
    this.#forget(name);
    return versions;
  }

  /** @throws KeyError `not-found` */
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

  /** The response time of the store in milliseconds, at least 1. */
  async latency(): Promise<number> {
    const start = performance.now();
    await this.#store.probe();
    return Math.max(1, Math.round(performance.now() - start));
  }

  /** Reports whether the store did not answer when it was last asked. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** Probes the store. */
  async probe(): Promise<void> {
    try {
      await this.#store.probe();
      this.#isDown = false;
    } catch (error) {
      this.#isDown = isOutage(error);
    }
  }

  /** Drops expired keys. */
  sweep(): void {
    for (const [name, cached] of this.#cache) {
      if (!this.#isFresh(cached) && !this.#mayServeOffline(cached)) this.#cache.delete(name);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    clearInterval(this.#prober);
    this.#cache.clear();
    this.#refusals.clear();
    await this.#store.close();
  }

  #forget(name: string): void {
    this.#changes++;
    this.#cache.delete(name);
    this.#refusals.delete(name);
    this.#reading.delete(name);
  }

  #sweepEvery(expiry: CacheExpiry): NodeJS.Timeout {
    // A timer that is set to more than 24.8 days would fire at once, again and again.
    const everyMs = Math.min(expiry.unused, expiry.any, 3_600_000);
    return setInterval(() => this.sweep(), Math.max(1000, everyMs)).unref();
  }

  #isFresh(cached: Cached): boolean {
    const now = this.#now();
    return now - cached.readAt < this.#expiry.any && now - cached.usedAt < this.#expiry.unused;
  }

  #mayServeOffline(cached: Cached): boolean {
    return this.#now() - cached.readAt < this.#expiry.offline;
  }

  /** Concurrent callers share one read. */
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

  /** Returns the cached key when the store fails or is slow. */
  async #readOrCached(reading: Promise<KeyVersions>, cachedKey: Cached): Promise<KeyVersions> {
    const { promise: tooLong, resolve } = Promise.withResolvers<KeyVersions>();
    const timer = setTimeout(() => {
      this.#isDown = true;
      resolve(cachedKey.versions);
    }, readTimeoutMs);
    try {
      return await Promise.race([reading, tooLong]);
    } catch (error) {
      if (isOutage(error)) return cachedKey.versions;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(name: string): Promise<KeyVersions> {
    const readAt = this.#now();
    const changes = this.#changes;
    try {
      const known = this.#refusals.get(name);
      const refused = known !== undefined && readAt - known.at < refusalMs ? known : undefined;
      const versions = await readVersions(this.#store, name, refused?.refusal);
      this.#isDown = false;
      // Without any later version the refusal is that of the first one.
      if (versions.refusal === undefined || versions.all.length > 1) this.#refusals.delete(name);
      else if (refused === undefined) this.#refusals.set(name, { refusal: versions.refusal, at: readAt });
      if (changes === this.#changes) this.#cache.set(name, { versions, readAt, usedAt: readAt });
      return versions;
    } catch (error) {
      if (error instanceof KeyError && error.code === 'not-found') this.#cache.delete(name);
      if (isOutage(error)) this.#isDown = true;
      throw error;
    }
  }
}
