import { expect, it } from 'vitest';
import { createLogger } from '../../platform/logger.ts';
import type { ReplicaFacts } from '../replicas/replica-registry.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { joinReplicas, type ThreadStores } from './thread-stores.ts';
import type { ThreadOptions } from './threads.ts';

const log = createLogger({ name: 'test', level: 'silent' });

it.each([
  ['leads alone, and writes nothing about itself, with records of its own', false, 0],
  ['is written where other servers find it, with records that they share', true, 1],
])('a server %s', async (_, shared, written) => {
  const records = new MemoryRecordStore();
  const stores = { records, shared } as unknown as ThreadStores;
  const replicas = joinReplicas({ replica: 'one' } as ThreadOptions, { stores }, log, () => undefined);
  await replicas.join({ id: 'one', endpoint: '127.0.0.1:9000' } as ReplicaFacts);
  const found = await Array.fromAsync(records.scan({ start: Buffer.of(0), end: Buffer.of(0xff) }));
  await replicas.close();
  expect([found.length, replicas.view().live.length]).toEqual([written, 1]);
});
