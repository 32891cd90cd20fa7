import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { encodeState } from '../outbox/queue-state.ts';
import { commitOnce } from '../store/commits.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { replicationHealth } from './replication-health.ts';

const stored = (id: string, sourceBucket: string) =>
  remoteTarget(id, { sourceBucket, endpoint: 'other:9000', targetBucket: 'copies' });

it('tells what waits for each target, and which one fails, without their keys', async () => {
  const records = new MemoryRecordStore();
  const failure = { since: 5, error: 'refused' };
  const state = encodeState({ events: 3, bytes: 9, oldest: 4, delivered: 0, failures: 1, failure });
  await commitOnce(records, { put: [{ key: outboxKeys.state(replicationQueue('b')), value: state }] }, randomBytes);
  const targets = { all: () => Promise.resolve([stored('a', 'quiet'), stored('b', 'photos')]) };
  expect(await replicationHealth(records, targets)).toEqual([
    { bucket: 'quiet', target: 'other:9000/copies', waiting: 0 },
    { bucket: 'photos', target: 'other:9000/copies', waiting: 3, oldest: 4, failure },
  ]);
});
