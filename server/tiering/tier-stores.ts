import { type BlobStore, blobsUnavailable } from '../store/blob-store.ts';
import { requirePromoted } from '../store/promotion.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { TierNumber } from '../store/tiered-id.ts';
import { BoundedReads } from './bounded-reads.ts';
import type { TierConfigurations } from './tier-configurations.ts';
import type { TierConnection } from './tier-connection.ts';
import type { Tier, Tiers } from '../objects/contract/tiers.ts';

/** Milliseconds for which a thread goes on with a configuration that another thread or server has changed. */
const STALE_MS = 5_000;

interface OpenTier extends TierConnection {
  readonly revision: number;
}

/** The blob stores of the tiers, for one thread. They are opened when a body is needed. */
export class TierStores implements Tiers {
  readonly #configurations: TierConfigurations;
  readonly #records: Pick<RecordStore, 'get'>;
  readonly #clock: () => number;
  readonly #open = new Map<TierNumber, OpenTier>();
  #read = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(
    configurations: TierConfigurations,
    records: Pick<RecordStore, 'get'>,
    clock: () => number = () => performance.now(),
  ) {
    this.#configurations = configurations;
    this.#records = records;
    this.#clock = clock;
  }

  async find(name: string): Promise<Tier | undefined> {
    return (await this.#configurations.get(name))?.tier;
  }

  /** Returns the store of a tier. Throws `StoreError` where there is no such tier, and where the bodies there may be those of another store. */
  async storeOf(number: TierNumber): Promise<BlobStore> {
    await requirePromoted(this.#records);
    const known = this.#open.has(number);
    if (!known || this.#clock() - this.#read >= STALE_MS) await (this.#reading ??= this.#readAll());
    const open = this.#open.get(number);
    if (open !== undefined) return open.store;
    throw blobsUnavailable(
      'unreachable',
      `there is no tier with the number ${number}: it was removed while it had bodies`,
    );
  }

  /** Lets the open tiers use new connections. */
  async renew(): Promise<void> {
    for (const { store } of this.#open.values()) await store.renew?.();
  }

  close(): void {
    for (const { close } of this.#open.values()) close();
    this.#open.clear();
  }

  async #readAll(): Promise<void> {
    const began = this.#clock();
    try {
      const stored = await this.#configurations.all();
      const numbers = new Set(stored.map(({ tier }) => tier.number));
      for (const [number, { close }] of this.#open) {
        if (numbers.has(number)) continue;
        close();
        this.#open.delete(number);
      }
      for (const { tier, revision } of stored) {
        // Requests in progress end over the old connection, whose idle sockets the other server closes.
        if (this.#open.get(tier.number)?.revision === revision) continue;
        // The client of S3 takes 5 MiB of each thread. It is loaded for the first tier.
        const { connectTier } = await import('./tier-connection.ts');
        const { store, close } = await connectTier(tier);
        const bounded = new BoundedReads(store, { what: `the tier ${tier.name}`, clock: this.#clock });
        this.#open.set(tier.number, { revision, store: bounded, close });
      }
      this.#read = began;
    } finally {
      this.#reading = undefined;
    }
  }
}
