import { ownChunks, type Chunks } from '../../streams/chunks.ts';
import {
  type BlobRange,
  type BlobId,
  type BlobStore,
  type WriteOptions,
  blobMissing,
  blobTruncated,
  blobAltered,
} from '../blob-store.ts';
import { closed } from '../record-store.ts';
import { Faults } from './faults.ts';
import { StoreError } from '../store-error.ts';

interface Blob {
  readonly bytes: Buffer;
  readonly whole: boolean;
  readonly written: number;
}

/** A blob store in memory, for tests. It fails as its `Faults` say. */
export class MemoryBlobStore implements BlobStore {
  readonly faults: Faults;
  readonly #blobs: Map<BlobId, Blob>;
  readonly #now: () => number;
  #closed = false;

  constructor(
    options: { readonly faults?: Faults; readonly now?: () => number; readonly disk?: Map<BlobId, unknown> } = {},
  ) {
    this.faults = options.faults ?? new Faults();
    this.#now = options.now ?? Date.now;
    this.#blobs = (options.disk as Map<BlobId, Blob> | undefined) ?? new Map<BlobId, Blob>();
  }

  /** Simulates a power cut: whole blobs survive, and half-written ones are listed. Returns the store of the next start. */
  crash(): MemoryBlobStore {
    this.#closed = true;
    return new MemoryBlobStore({ faults: this.faults, now: this.#now, disk: this.#blobs });
  }

  async write(
    id: BlobId,
    body: AsyncIterable<Buffer>,
    { release }: WriteOptions = {},
  ): Promise<{ readonly size: number }> {
    await this.#begin();
    if (this.#blobs.has(id)) throw new Error(`blob ${id} exists already: ids are never used twice`);
    const written = this.#now();
    const failAfter = this.faults.strike(['blobWrite']) === undefined ? undefined : this.faults.upTo(3);
    const chunks: Buffer[] = [];
    this.#blobs.set(id, { bytes: Buffer.alloc(0), whole: false, written });
    try {
      for await (const chunk of body) {
        // The copy is made because streams reuse their buffers.
        const copy = Buffer.from(chunk);
        release?.(chunk);
        this.#refuseWhenClosed();
        if (chunks.length === failAfter) throw full();
        chunks.push(copy);
        await this.faults.delay();
      }
      this.#refuseWhenClosed();
      if (failAfter !== undefined) throw full();
    } catch (error) {
      if (!this.#closed) this.#blobs.delete(id);
      throw error;
    }
    const bytes = Buffer.concat(chunks);
    this.#blobs.set(id, { bytes, whole: true, written });
    return { size: bytes.length };
  }

  /** Overwrites each chunk when the next is requested, so that tests notice a caller that keeps it. */
  read(id: BlobId, range: BlobRange): Chunks {
    const chunks = ownChunks(this.#chunks(id, range));
    let borrowed: Buffer | undefined;
    const wipe = () => {
      borrowed?.fill(0xdd);
      borrowed = undefined;
    };
    return {
      ownership: 'lent',
      async next() {
        wipe();
        borrowed = await chunks.next();
        return borrowed;
      },
      close() {
        wipe();
        return chunks.close();
      },
    };
  }

  async remove(id: BlobId): Promise<void> {
    await this.#begin();
    this.#blobs.delete(id);
  }

  async *list(): AsyncIterable<{ readonly id: BlobId; readonly size: number; readonly ageMs: number }> {
    await this.#begin();
    for (const [id, blob] of this.#blobs) yield { id, size: blob.bytes.length, ageMs: this.#now() - blob.written };
  }

  async space(): Promise<{ readonly free: number; readonly total: number } | undefined> {
    await this.#begin();
    return undefined;
  }

  async *#chunks(id: BlobId, range: BlobRange): AsyncIterable<Buffer> {
    await this.#begin();
    const blob = this.#blobs.get(id);
    if (blob?.whole !== true) throw blobMissing(id);
    if (range.end > blob.bytes.length) throw blobTruncated(id, range.end);
    if (range.size !== undefined && range.size !== blob.bytes.length) {
      throw blobAltered(id, `has ${blob.bytes.length} bytes instead of ${range.size}`);
    }
    const bytes = Buffer.from(blob.bytes.subarray(range.start, range.end));
    const end = this.faults.strike(['blobRead']) === undefined ? undefined : this.faults.upTo(bytes.length);
    for (let at = 0; at < bytes.length; at += 65_536) {
      await this.faults.delay();
      if (end !== undefined && at >= end)
        throw new StoreError('unreachable', `reading blob ${id} broke off (injected)`);
      yield bytes.subarray(at, at + 65_536);
    }
    if (end !== undefined) throw new StoreError('unreachable', `reading blob ${id} broke off (injected)`);
  }

  async #begin(): Promise<void> {
    this.#refuseWhenClosed();
    await this.faults.delay();
    this.#refuseWhenClosed();
    if (this.faults.strike(['unavailable']) !== undefined) {
      throw new StoreError('unreachable', 'the blob store cannot be reached (injected)');
    }
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw closed('blob');
  }
}

function full(): StoreError {
  return new StoreError('full', 'no space is left for blobs (injected)');
}
