import type { Tier, Tiers } from '../objects/tiers/tiers.ts';
import { type BlobStore, blobsUnavailable } from '../store/blob-store.ts';
import { type CallTimeouts, S3Connection, defaultTimeouts } from '../store/s3/connection.ts';
import { s3BlobStore } from '../store/s3/blob-store.ts';
import type { TierNumber } from '../store/tiered-id.ts';
import type { TierConfiguration, TierConfigurations } from './tier-configurations.ts';

/** Milliseconds for which a thread goes on with a configuration that another thread or server has changed. */
const STALE_MS = 5_000;

/** Makes a connection to the bucket of a tier. */
export function tierConnection(
  tier: Omit<TierConfiguration, 'number'>,
  timeouts: CallTimeouts = defaultTimeouts,
): S3Connection {
  const { name, endpoint, region, bucket, prefix, storageClass, accessKey, secretKey } = tier;
  return new S3Connection(
    {
      what: `the tier ${name}`,
      ...(isAws(endpoint) ? {} : { endpoint }),
      region: region === '' ? 'us-east-1' : region,
      bucket,
      prefix: prefix === '' ? '' : `${prefix}/`,
      accessKey,
      secretKey,
      ...(storageClass !== '' && { storageClass }),
    },
    timeouts,
  );
}

/** The global endpoint of AWS leaves the choice of the host to the SDK, which knows the region. */
function isAws(endpoint: string): boolean {
  return new URL(endpoint).hostname === 's3.amazonaws.com';
}

interface OpenTier {
  readonly revision: number;
  readonly store: BlobStore;
  readonly connection: S3Connection;
}

/** The blob stores of the tiers, for one thread. They are opened when a body is needed. */
export class TierStores implements Tiers {
  readonly #configurations: TierConfigurations;
  readonly #clock: () => number;
  readonly #open = new Map<TierNumber, OpenTier>();
  #read = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(configurations: TierConfigurations, clock: () => number = Date.now) {
    this.#configurations = configurations;
    this.#clock = clock;
  }

  async find(name: string): Promise<Tier | undefined> {
    return (await this.#configurations.get(name))?.tier;
  }

  /** Returns the store of a tier. Throws `StoreUnavailable` where there is no such tier. */
  async storeOf(number: TierNumber): Promise<BlobStore> {
    const known = this.#open.has(number);
    if (!known || this.#clock() - this.#read >= STALE_MS) await (this.#reading ??= this.#readAll());
    const open = this.#open.get(number);
    if (open !== undefined) return open.store;
    throw blobsUnavailable(
      'unreachable',
      `there is no tier with the number ${number}: it was removed while it had bodies`,
    );
  }

  /** Reports if there is a tier of this number. */
  async has(number: TierNumber): Promise<boolean> {
    return (await this.#configurations.all()).some(({ tier }) => tier.number === number);
  }

  close(): void {
    for (const { connection } of this.#open.values()) connection.close();
    this.#open.clear();
  }

  async #readAll(): Promise<void> {
    try {
      const stored = await this.#configurations.all();
      const numbers = new Set(stored.map(({ tier }) => tier.number));
      for (const [number, { connection }] of this.#open) {
        if (numbers.has(number)) continue;
        connection.close();
        this.#open.delete(number);
      }
      for (const { tier, revision } of stored) {
        // Requests in progress end over the old connection, whose idle sockets the other server closes.
        if (this.#open.get(tier.number)?.revision === revision) continue;
        const connection = tierConnection(tier);
        this.#open.set(tier.number, { revision, connection, store: s3BlobStore(connection) });
      }
      this.#read = this.#clock();
    } finally {
      this.#reading = undefined;
    }
  }
}
