import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import { identityKeys } from './identity-keys.ts';

export interface HeadCacheOptions {
  readonly records: Pick<SealedRecordStore, 'revision'>;
  /** How old what is remembered may be: 0 where every change goes through this machine's records. Milliseconds. */
  readonly staleMs: number;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

/** Strangers ask for access keys that do not exist, and those are remembered too. */
const mostEntries = 20_000;

/**
 * What was read of the identities, as long as none has changed: every change puts the head record, and its revision is looked at
 * before each use.
 */
export class HeadCache {
  readonly #options: HeadCacheOptions;
  readonly #now: () => number;
  #known = new Map<string, Promise<unknown>>();
  #revision: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HeadCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async get<T>(name: string, load: () => Promise<T>): Promise<T> {
    await this.#look();
    // The map itself is remembered: what is read while it is replaced must not get into the next one.
    const known = this.#known;
    const found = known.get(name);
    if (found !== undefined) return found as Promise<T>;
    for (const oldest of known.keys()) {
      if (known.size < mostEntries) break;
      known.delete(oldest);
    }
    const loaded = load();
    known.set(name, loaded);
    loaded.catch(() => known.delete(name));
    return loaded;
  }

  /** What this server changes itself it sees at once. */
  forget(): void {
    this.#known = new Map();
    this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  async #look(): Promise<void> {
    const now = this.#now();
    if (now - this.#lookedAt < this.#options.staleMs) return;
    const revision = await this.#options.records.revision(identityKeys.head);
    this.#lookedAt = now;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#known = new Map();
  }
}
