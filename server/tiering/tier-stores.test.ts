import { expect, it } from 'vitest';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import type { TierNumber } from '../store/tiered-id.ts';
import type { StoredTier, TierConfigurations } from './tier-configurations.ts';
import { TierStores } from './tier-stores.ts';

const tier: StoredTier['tier'] = {
  number: '0a0b0c0d' as TierNumber,
  name: 'COLD',
  type: 's3',
  endpoint: 'http://127.0.0.1:9',
  region: 'us-east-1',
  bucket: 'cold',
  prefix: '',
  storageClass: '',
  accessKey: 'key',
  secretKey: 'secret-secret',
};

it('reads the configurations again when the last read began long ago', async () => {
  let time = 0;
  let reads = 0;
  const configurations: Pick<TierConfigurations, 'all'> = {
    all() {
      reads += 1;
      time += 10_000;
      return Promise.resolve([{ tier, revision: 1 }]);
    },
  };
  const stores = new TierStores(configurations as TierConfigurations, new MemoryRecordStore(), () => time);
  await stores.storeOf(tier.number);
  await stores.storeOf(tier.number);
  expect(reads).toBe(2);
  stores.close();
});
