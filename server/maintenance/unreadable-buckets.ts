import { isUnreadable } from '../objects/records/damage.ts';
import type { StoreError } from '../store/store-error.ts';

/**
 * Lets a task go on with other buckets where a damaged record stops it in one: else this one record would stop the task everywhere for
 * good. The task fails at the end of its round, so that its state names the record.
 */
export class UnreadableBuckets {
  #first: StoreError | undefined;

  /** Rejects with all other errors of the work. */
  async goOnAfter(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#first ??= error;
    }
  }

  /** Throws the first error, if there was one. */
  throwFirst(): void {
    if (this.#first !== undefined) throw this.#first;
  }
}
