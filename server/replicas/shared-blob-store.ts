import type { Readable } from 'node:stream';
import type { Pieces } from '../../platform/pieces.ts';
import { blamesBlobs } from '../store/blob-store.ts';
import type { BlobId, BlobStore } from '../store/blob-store.ts';
import { StoreUnavailable } from '../store/record-store.ts';

/** A blob store on another machine as one thread uses it: opened when it can be. */
export class SharedBlobStore implements BlobStore {
  readonly #open: () => Promise<BlobStore>;
  #store: BlobStore | undefined;

  constructor(open: () => Promise<BlobStore>) {
    this.#open = open;
  }

  /** Throws `BlobsUnavailable`; may be repeated. */
  async open(): Promise<void> {
    this.#store ??= await this.#open().catch(blamesBlobs);
  }

  async write(id: BlobId, body: AsyncIterable<Buffer>): Promise<{ readonly size: number }> {
    return this.#opened().write(id, body);
  }

  read(...[id, range]: Parameters<BlobStore['read']>): Readable {
    return this.#opened().read(id, range);
  }

  lend(...[id, range]: Parameters<BlobStore['lend']>): Pieces {
    return this.#opened().lend(id, range);
  }

  async remove(id: BlobId): Promise<void> {
    return this.#opened().remove(id);
  }

  list(): ReturnType<BlobStore['list']> {
    return this.#opened().list();
  }

  async space(): ReturnType<BlobStore['space']> {
    return this.#opened().space();
  }

  #opened(): BlobStore {
    if (this.#store !== undefined) return this.#store;
    throw new StoreUnavailable('unreachable', 'the blob store was not reached yet');
  }
}
