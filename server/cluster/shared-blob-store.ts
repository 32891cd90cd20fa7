import type { Chunks } from '../streams/chunks.ts';
import { blamesBlobs } from '../store/blob-store.ts';
import type { BlobId, BlobStore } from '../store/blob-store.ts';
import { StoreError } from '../store/store-error.ts';

/** The handle of one thread for a blob store on another machine. `open` may be repeated until the store is reachable. */
export class SharedBlobStore implements BlobStore {
  readonly #open: () => Promise<BlobStore>;
  #store: BlobStore | undefined;

  constructor(open: () => Promise<BlobStore>) {
    this.#open = open;
  }

  /** Throws `StoreError` of the blobs; may be repeated. */
  async open(): Promise<void> {
    this.#store ??= await this.#open().catch(blamesBlobs);
  }

  async write(...args: Parameters<BlobStore['write']>): ReturnType<BlobStore['write']> {
    return this.#opened().write(...args);
  }

  read(...args: Parameters<BlobStore['read']>): Chunks {
    return this.#opened().read(...args);
  }

  async remove(id: BlobId): Promise<void> {
    return this.#opened().remove(id);
  }

  list(): ReturnType<BlobStore['list']> {
    return this.#opened().list();
  }

  get segments(): BlobStore['segments'] {
    return this.#opened().segments;
  }

  async space(): ReturnType<BlobStore['space']> {
    return this.#opened().space();
  }

  async check(): Promise<void> {
    await this.#opened().check?.();
  }

  async renew(): Promise<void> {
    await this.#store?.renew?.();
  }

  #opened(): BlobStore {
    if (this.#store !== undefined) return this.#store;
    throw new StoreError('unreachable', 'the blob store is not open yet');
  }
}
