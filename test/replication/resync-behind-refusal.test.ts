import { randomBytes } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { decodeReplication, replicationQueue } from '../../server/objects/replication/queue-replication.ts';
import { unlimited } from '../../server/maintenance/pace.ts';
import { deliverQueue } from '../../server/outbox/deliver-queue.ts';
import { readState } from '../../server/outbox/queue-state.ts';
import { ReplicationDelivery } from '../../server/replication/replicate-to.ts';
import { TargetStats } from '../../server/replication/replication-stats.ts';
import { walkForResync } from '../../server/replication/resync.ts';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';
import { remoteTarget } from '../support/replication/remote-target.ts';

const key = 'key';
const log = { info: () => undefined, warn: () => undefined };

it('ends where the target refuses an earlier change of a version, which is sent once the target takes it', async () => {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const [one, two] = [await LinkedServer.start('one', clock, false), await LinkedServer.start('two', clock, false)];
  await one.replicateTo(two);
  await one.calls.layer.putObject(put(bucket, key, 'text'));
  const denied = { 'x-minio-error-code': 'AccessDenied', 'x-amz-request-id': 'R' };
  two.intercept = ({ method }) => (method === 'PUT' ? { status: 403, headers: denied, text: '' } : undefined);
  const { layer: objects, records } = one.calls;
  const id = two.targetId;
  const stats = await TargetStats.open(records, id);
  const ending = new AbortController();
  const { signal } = ending;
  const target = { sourceBucket: bucket, targetBucket: bucket, resync: { id: 'resync', before: clock.now + 1 } };
  const stored = remoteTarget(id, target);
  const running = deliverQueue({
    records,
    target: replicationQueue(id),
    delivery: new ReplicationDelivery({ stored, objects, stats, signal, log }, one.clientOf(two)),
    bounds: { events: 1_000, bytes: 1e9, whenFull: 'drop' },
    signal,
    random: randomBytes,
    log,
    wait: () => new Promise((next) => setImmediate(next)),
  });
  try {
    const state = () => readState(records, replicationQueue(id));
    await vi.waitFor(async () => expect((await state())?.held).toBeDefined(), { timeout: 75_000 });
    await walkForResync({ records, objects, stored, stats, reads: unlimited, signal, log });
    expect(stats.current.resync).toMatchObject({ queued: 1, ended: expect.any(Number) as number });
    const counted = { failed: { count: 1 }, replicated: { count: 0 } };
    await vi.waitFor(() => expect(stats.current.resync).toMatchObject(counted), { timeout: 75_000 });
  } finally {
    ending.abort();
    await running.catch(() => undefined);
  }
  expect((await one.queued(two)).map((entry) => decodeReplication(entry).resync)).toEqual([undefined]);
  const replication = async () => (await objects.headObject(bucket, key)).replication;
  expect(await replication()).toMatchObject({ status: 'FAILED', waiting: [id] });
  two.intercept = undefined;
  await one.deliver();
  expect(await replication()).toMatchObject({ status: 'COMPLETED' });
  expect((await two.call('GET', key)).body).toBe('text');
});
