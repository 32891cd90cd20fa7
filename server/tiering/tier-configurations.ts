import { parseSealedJson } from '../encryption/sealed-json.ts';
import type { TierFields } from '../../protocol/admin/tier.ts';
import type { TierNumber } from '../store/tiered-id.ts';
import { type SealedEntry, sealedKey, type SealedRecordStore, sealedWithin } from '../encryption/sealed-records.ts';

/** A tier as it is stored. */
export interface TierConfiguration extends TierFields {
  /** Part of the blob ids of its bodies. */
  readonly number: TierNumber;
}

export interface StoredTier {
  readonly tier: TierConfiguration;
  readonly revision: number;
}

const table = 'tier';

/** The configurations of tiers. Their records are sealed, because they have secret keys. */
export class TierConfigurations {
  readonly #records: SealedRecordStore;

  constructor(records: SealedRecordStore) {
    this.#records = records;
  }

  async get(name: string): Promise<StoredTier | undefined> {
    const entry = await this.#records.get(sealedKey(table, name));
    return entry && decode(entry);
  }

  async all(): Promise<readonly StoredTier[]> {
    const found: StoredTier[] = [];
    for await (const entry of this.#records.scan(sealedWithin(table))) found.push(decode(entry));
    return found;
  }

  /** Returns false where there is a tier of this name. */
  add(tier: TierConfiguration): Promise<boolean> {
    return this.#put(tier, { kind: 'absent' });
  }

  /** Returns false where another change came first. */
  replace({ revision }: StoredTier, tier: TierConfiguration): Promise<boolean> {
    return this.#put(tier, { kind: 'revision', revision });
  }

  async remove({ tier }: StoredTier): Promise<void> {
    await this.#records.delete(sealedKey(table, tier.name));
  }

  async #put(tier: TierConfiguration, expectation: Parameters<SealedRecordStore['put']>[2]): Promise<boolean> {
    const value = Buffer.from(JSON.stringify(tier));
    return (await this.#records.put(sealedKey(table, tier.name), value, expectation)) === 'committed';
  }
}

function decode(entry: SealedEntry): StoredTier {
  return { tier: parseSealedJson(entry) as TierConfiguration, revision: entry.revision };
}
