import type { Chunks } from '../streams/chunks.ts';
import type { BlobId, BlobRange, BlobStore } from '../store/blob-store.ts';
import { tierOf, type TierNumber } from '../store/tiered-id.ts';

interface Stores {
  storeOf(number: TierNumber): Promise<BlobStore>;
  /** Lets the stores use new connections. */
  renew?(): Promise<void>;
}

/** The pieces of a store that is opened by the first `next`. */
class AwaitedChunks implements Chunks {
  readonly ownership = 'lent';
  readonly #open: () => Promise<Chunks>;
  #chunks: Chunks | undefined;
  #closed = false;

  constructor(open: () => Promise<Chunks>) {
    this.#open = open;
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#closed) return undefined;
    this.#chunks ??= await this.#open();
    return this.#chunks.next();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#chunks?.close();
  }
}

/** The blobs of a server with those of its tiers: the id of a blob says where it is. `list` and `segments` are those of the server. */
export class TieredBlobs implements BlobStore {
  readonly #own: BlobStore;
  readonly #tiers: Stores;

  constructor(own: BlobStore, tiers: Stores) {
    this.#own = own;
    this.#tiers = tiers;
  }

  async write(...[id, body, options]: Parameters<BlobStore['write']>): ReturnType<BlobStore['write']> {
    const tier = tierOf(id);
    const store = tier === undefined ? this.#own : await this.#tiers.storeOf(tier);
    return store.write(id, body, options);
  }

  read(id: BlobId, range: BlobRange): Chunks {
    const tier = tierOf(id);
    if (tier === undefined) return this.#own.read(id, range);
    return new AwaitedChunks(async () => (await this.#tiers.storeOf(tier)).read(id, range));
  }

  async remove(id: BlobId): Promise<void> {
    const tier = tierOf(id);
    await (tier === undefined ? this.#own : await this.#tiers.storeOf(tier)).remove(id);
  }

  list(): ReturnType<BlobStore['list']> {
    return this.#own.list();
  }

  space(): ReturnType<BlobStore['space']> {
    return this.#own.space();
  }

  async renew(): Promise<void> {
    await this.#own.renew?.();
    await this.#tiers.renew?.();
  }

  get segments(): BlobStore['segments'] {
    return this.#own.segments;
  }
}
