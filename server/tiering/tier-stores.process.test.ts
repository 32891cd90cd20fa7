import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../platform/http/listen.ts';
import { read } from '../../test/support/store/blob-store.conformance.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { newTieredId, type TierNumber } from '../store/tiered-id.ts';
import type { TierConfiguration, TierConfigurations } from './tier-configurations.ts';
import { TierStores } from './tier-stores.ts';

const tier: Omit<TierConfiguration, 'endpoint'> = {
  number: '0a0b0c0d' as TierNumber,
  name: 'COLD',
  type: 's3',
  region: 'us-east-1',
  bucket: 'cold',
  prefix: '',
  storageClass: '',
  accessKey: 'key',
  secretKey: 'secret-secret',
};

it('does not wait for a tier where nothing listens, nor asks it again at once', async () => {
  const free = createServer();
  const { port } = await listen(free, { host: '127.0.0.1', port: 0 }, { setting: '' });
  await new Promise((done) => free.close(done));
  const away = { ...tier, endpoint: `http://127.0.0.1:${port}` };
  const configurations: Pick<TierConfigurations, 'all'> = {
    all: () => Promise.resolve([{ tier: away, revision: 1 }]),
  };
  const stores = new TierStores(configurations as TierConfigurations, new MemoryRecordStore(), () => 0);
  onTestFinished(() => stores.close());
  const store = await stores.storeOf(tier.number);
  const id = newTieredId(tier.number, 'bucket', randomBytes);
  await expect(read(store, id, 0, 1)).rejects.toThrow(/^could not read blob .*: ECONNREFUSED/);
  await expect(read(store, id, 0, 1)).rejects.toThrow(/^the tier COLD is not asked .*: ECONNREFUSED/);
});
