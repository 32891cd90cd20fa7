import { timeoutText } from '../../platform/text/message-text.ts';
import { type BlobId, type BlobRange, type BlobStore, blobsUnavailable } from '../store/blob-store.ts';
import { callFailure, isStoreUnavailable } from '../store/store-error.ts';
import type { Chunks } from '../streams/chunks.ts';

interface BoundedReadsOptions {
  /** The name of the tier in messages. */
  readonly what: string;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Milliseconds until the first bytes of a body. A client gives up before the attempts of a store end. */
  readonly answerMs?: number;
}

/** Milliseconds for which a tier that did not answer is not asked for bodies again: each read would wait for it. */
const pauseMs = 5_000;

/** The blob store of a tier whose reads do not wait long for a tier that is away. Writes and removals are those of the store. */
export class BoundedReads implements BlobStore {
  readonly #store: BlobStore;
  readonly #options: BoundedReadsOptions;
  #pause: { readonly until: number; readonly reason: string } | undefined;
  /** When the tier gave the first bytes of a body last. */
  #answered = -Infinity;

  constructor(store: BlobStore, options: BoundedReadsOptions) {
    this.#store = store;
    this.#options = options;
  }

  read(id: BlobId, range: BlobRange): Chunks {
    const { what, clock } = this.#options;
    if (this.#pause !== undefined && clock() < this.#pause.until) {
      const message = `${what} is not asked for blob ${id}, since it did not answer within the last ${timeoutText(pauseMs)}: ${this.#pause.reason}`;
      return {
        ownership: 'own',
        next: () => Promise.reject(blobsUnavailable('unreachable', message)),
        close: () => Promise.resolve(),
      };
    }
    const chunks = this.#store.read(id, range);
    let first = true;
    return {
      ownership: chunks.ownership,
      next: () => {
        if (!first) return chunks.next();
        first = false;
        return this.#first(chunks, id);
      },
      close: () => chunks.close(),
    };
  }

  async #first(chunks: Chunks, id: BlobId): Promise<Buffer | undefined> {
    const { what, clock, answerMs = 5_000 } = this.#options;
    const began = clock();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const message = `could not read blob ${id} in ${what}: it did not answer within ${timeoutText(answerMs)}`;
      late.reject(blobsUnavailable('unreachable', message));
    }, answerMs);
    try {
      const chunk = await Promise.race([chunks.next(), late.promise]);
      this.#pause = undefined;
      this.#answered = clock();
      return chunk;
    } catch (error) {
      // A refusal, such as that of the keys, comes at once, and an administrator who has mended it wants to see that.
      const isAway = isStoreUnavailable(error) && (callFailure(error)?.kind ?? 'passing') === 'passing';
      // One slow body says nothing of a tier that has answered others meanwhile.
      if (isAway && this.#answered < began) this.#pause = { until: clock() + pauseMs, reason: error.message };
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  write(...given: Parameters<BlobStore['write']>): ReturnType<BlobStore['write']> {
    return this.#store.write(...given);
  }

  remove(id: BlobId): Promise<void> {
    return this.#store.remove(id);
  }

  list(): ReturnType<BlobStore['list']> {
    return this.#store.list();
  }

  space(): ReturnType<BlobStore['space']> {
    return this.#store.space();
  }

  async renew(): Promise<void> {
    await this.#store.renew?.();
  }
}
