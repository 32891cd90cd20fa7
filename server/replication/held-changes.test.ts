import { randomBytes } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { put } from '../../test/support/objects/test-layer.ts';
import { bucket, LinkedServer } from '../../test/support/replication/linked-servers.ts';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { deliverQueue } from '../outbox/deliver-queue.ts';
import { readState } from '../outbox/queue-state.ts';
import { replicationHealth } from './replication-health.ts';
import { ReplicationDelivery } from './replicate-to.ts';
import { TargetStats } from './replication-stats.ts';

const log = { info: () => undefined, warn: () => undefined };
const until = (condition: () => unknown) => vi.waitFor(condition, { timeout: 75_000, interval: 5 });

/** Two servers, the second of which answers every PUT of the key `bad`. */
async function withBad(answer: { readonly status: number; readonly code: string }) {
  const clock = { now: Date.UTC(2027, 0, 1) };
  const [one, two] = [await LinkedServer.start('one', clock, false), await LinkedServer.start('two', clock, false)];
  await one.replicateTo(two);
  const headers = { 'x-minio-error-code': answer.code, 'x-amz-request-id': 'R' };
  two.intercept = ({ method, key }) =>
    method === 'PUT' && key === 'bad' ? { status: answer.status, headers, text: '' } : undefined;
  const { layer: objects, records } = one.calls;
  const id = two.targetId;
  const stats = await TargetStats.open(records, id);
  const ending = new AbortController();
  const { signal } = ending;
  const stored = remoteTarget(id, { sourceBucket: bucket, targetBucket: bucket });
  let now = 0;
  const running = deliverQueue({
    records,
    target: replicationQueue(id),
    delivery: new ReplicationDelivery({ stored, objects, stats, signal, log }, one.clientOf(two)),
    bounds: { events: 1_000, bytes: 1e9, whenFull: 'drop' },
    signal,
    random: randomBytes,
    log,
    clock: () => now,
    monotonicClock: () => now,
    wait: async (ms) => {
      now += Math.min(ms, 100);
      await endOfTurn();
    },
  });
  return {
    two,
    stats,
    health: () => replicationHealth(records, { all: () => Promise.resolve([stored]) }),
    state: () => readState(records, replicationQueue(id)),
    write: (key: string) => objects.putObject(put(bucket, key, 'text')),
    statusOf: async (key: string) => (await objects.headObject(bucket, key)).replication,
    stop: async () => {
      ending.abort(new Error('the test is over'));
      await running.catch(() => undefined);
    },
  };
}

describe('a version that is held', () => {
  it('is FAILED with its failure, also where the target answers as if it were away; it is COMPLETED later', async () => {
    const { two, stats, write, statusOf, state, stop } = await withBad({ status: 500, code: 'InternalError' });
    await write('bad');
    let more = 0;
    await until(async () => {
      await write(`good${(more += 1)}`);
      expect((await state())?.held).toMatchObject({ events: 1 });
    });
    expect(await statusOf('bad')).toMatchObject({
      status: 'FAILED',
      targets: { [two.targetId]: { refused: expect.stringContaining('InternalError') as string } },
    });
    expect(stats.current.failed.count).toBe(1);
    two.intercept = undefined;
    await until(async () => expect(await statusOf('bad')).toMatchObject({ status: 'COMPLETED' }));
    await stop();
  });

  it('is no failure of its target, which tells how many it refuses', async () => {
    const { health, write, statusOf, stop } = await withBad({ status: 403, code: 'AccessDenied' });
    await write('bad');
    await write('good');
    await until(async () => expect(await statusOf('good')).toMatchObject({ status: 'COMPLETED' }));
    await until(async () => {
      const [one] = await health();
      expect(one).toMatchObject({
        waiting: 1,
        held: { events: 1, error: expect.stringContaining('AccessDenied') as string },
      });
      expect(one).not.toHaveProperty('failure');
    });
    await stop();
  });
});
