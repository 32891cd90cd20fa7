import { randomBytes } from 'node:crypto';
import {
  type Batch,
  type Entry,
  type Key,
  type RecordStore,
  type ScanItem,
  type ScanRange,
  scanPages,
} from '../../../server/store/record-store.ts';
import { isStoreError } from '../../../server/store/store-error.ts';

export type Answer = { readonly kind: 'committed' } | { readonly kind: 'conflict'; readonly key: Key };

/**
 * A store as the conformance suite uses it: asks again while the store cannot be reached, and settles every `unknown`, so that the
 * same assertions hold over an engine that fails on purpose.
 */
export class Patient {
  readonly store: RecordStore;

  constructor(store: RecordStore) {
    this.store = store;
  }

  get(key: Key): Promise<Entry | undefined> {
    return untilReached(() => this.store.get(key));
  }

  getAll(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]> {
    return untilReached(() => this.store.getAll(keys));
  }

  scan(range: ScanRange): Promise<ScanItem[]> {
    return untilReached(() => Array.fromAsync(this.store.scan(range)));
  }

  async scanByPages(range: ScanRange): Promise<ScanItem[]> {
    return (await untilReached(() => Array.fromAsync(scanPages(this.store, range)))).flat();
  }

  /** One attempt that is certainly answered; a conflict may be one that the engine made up. */
  async attempt(batch: Omit<Batch, 'id'>): Promise<Answer> {
    for (;;) {
      const id = commitId();
      const outcome = await untilReached(() => this.store.commit({ ...batch, id }));
      if (outcome.kind !== 'unknown') return outcome;
      if ((await untilReached(() => this.store.outcome(id))) === 'committed') return { kind: 'committed' };
    }
  }

  /** Builds and tries a batch until it is committed. */
  async commit(build: (store: Patient) => Omit<Batch, 'id'> | Promise<Omit<Batch, 'id'>>): Promise<void> {
    for (let tries = 0; tries < 1000; tries += 1) {
      if ((await this.attempt(await build(this))).kind === 'committed') return;
    }
    throw new Error('1000 conflicts in a row');
  }

  put(key: Key, value: string | Buffer): Promise<void> {
    return this.commit(() => ({ put: [{ key, value: Buffer.from(value) }] }));
  }

  delete(key: Key): Promise<void> {
    return this.commit(() => ({ delete: [key] }));
  }
}

export function commitId(): string {
  return randomBytes(16).toString('hex');
}

async function untilReached<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isStoreError(error, 'unreachable') || tries === 1000) throw error;
    }
  }
}
