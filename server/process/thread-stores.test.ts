import { expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import type { ServerFacts } from '../cluster/server-registry.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { joinCluster, type ThreadStores } from './thread-stores.ts';
import type { ThreadOptions } from './threads.ts';

const log = createLogger({ name: 'test', level: 'silent' });

it.each([
  ['leads alone, and writes nothing about itself, with records of its own', false, 0],
  ['is written where other servers find it, with records that they share', true, 1],
])('a server %s', async (_, shared, written) => {
  const records = new MemoryRecordStore();
  const stores = { records, shared } as unknown as ThreadStores;
  const cluster = joinCluster({ serverId: 'one' } as ThreadOptions, { stores }, log, () => undefined);
  await cluster.join({ id: 'one', endpoint: '127.0.0.1:9000' } as ServerFacts);
  const found = await Array.fromAsync(records.scan({ start: Buffer.of(0), end: Buffer.of(0xff) }));
  await cluster.close();
  expect([found.length, cluster.view().live.length]).toEqual([written, 1]);
});
