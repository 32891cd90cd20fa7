import { randomBytes } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { put } from '../../test/support/objects/test-layer.ts';
import { bucket, LinkedServer } from '../../test/support/replication/linked-servers.ts';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { decodeReplication, replicationQueue } from '../objects/replication/queue-replication.ts';
import { deliverQueue } from '../outbox/deliver-queue.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import { readState } from '../outbox/queue-state.ts';
import { replicationHealth } from './replication-health.ts';
import { ReplicationDelivery } from './replicate-to.ts';
import { TargetStats } from './replication-stats.ts';

const log = { info: () => undefined, warn: () => undefined };
const none = { count: 0, bytes: 0 };
const noResync = { before: 1, started: 1, walked: true, failed: none, replicated: none };
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
  const stored = remoteTarget(id, { sourceBucket: bucket, targetBucket: bucket });
  let now = 0;
  const deliver = (signal: AbortSignal) =>
    deliverQueue({
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
    }).catch(() => undefined);
  let ending = new AbortController();
  let running = deliver(ending.signal);
  const stop = async () => {
    ending.abort(new Error('the test is over'));
    await running;
  };
  return {
    two,
    stats,
    objects,
    queued: async () => (await one.queued(two)).map((entry) => decodeReplication(entry)),
    health: () => replicationHealth(records, { all: () => Promise.resolve([stored]) }),
    state: () => readState(records, replicationQueue(id)),
    write: (key: string) => objects.putObject(put(bucket, key, 'text')),
    statusOf: async (key: string) => (await objects.headObject(bucket, key)).replication,
    stop,
    /** Lets another server deliver. */
    replace: async () => {
      await stop();
      ending = new AbortController();
      running = deliver(ending.signal);
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

  it('is not held where its target is away, and other changes end without a request', async () => {
    const { two, objects, queued, state, write, statusOf, stop } = await withBad({
      status: 500,
      code: 'InternalError',
    });
    two.intercept = () => {
      throw new DeliveryError('unavailable', 'connect ECONNREFUSED');
    };
    const configured = await objects.getBucketReplication(bucket);
    if (configured === undefined) throw new Error('the bucket is not replicated');
    const rules = configured.rules.map((rule) => ({ ...rule, deletes: false }));
    await objects.putBucketReplication(bucket, { ...configured, rules });
    await write('waiting');
    for (let at = 0; at < 12; at += 1) {
      const { versionId = '' } = await write(`removed${at}`);
      await objects.deleteObject(bucket, `removed${at}`, { versionId });
      await until(async () => expect((await queued()).map(({ key }) => key)).toEqual(['waiting']));
    }
    await until(async () => expect(await state()).toMatchObject({ events: 1, failure: { away: true } }));
    expect(await state()).not.toHaveProperty('held');
    expect(await statusOf('waiting')).toMatchObject({ status: 'PENDING' });
    await stop();
  });

  it('ends the resync that queued it, and leaves the queue', async () => {
    const { two, stats, objects, queued, write, statusOf, stop } = await withBad({
      status: 500,
      code: 'InternalError',
    });
    two.intercept = undefined;
    const { versionId = '' } = await write('bad');
    await until(async () => expect(await statusOf('bad')).toMatchObject({ status: 'COMPLETED' }));
    stats.setResync({ ...noResync, id: 'resync', queued: 1 });
    const headers = { 'x-minio-error-code': 'InternalError', 'x-amz-request-id': 'R' };
    two.intercept = ({ key }) => (key === 'bad' ? { status: 500, headers, text: '' } : undefined);
    const target = two.targetId;
    expect(await objects.queueResync({ bucket, key: 'bad', versionId, target, resync: 'resync' })).toBe(true);
    let more = 0;
    await until(async () => {
      await write(`good${(more += 1)}`);
      expect((await queued()).filter(({ key }) => key === 'bad')).toEqual([]);
    });
    expect(await statusOf('bad')).toMatchObject({
      status: 'FAILED',
      targets: { [target]: { refused: expect.stringContaining('InternalError') as string } },
    });
    await until(() => expect(stats.current.resync).toMatchObject({ failed: { count: 1 } }));
    await stop();
  });

  it('counts as one failure, whichever servers try it', async () => {
    const { two, stats, state, write, replace, stop } = await withBad({ status: 403, code: 'AccessDenied' });
    let tries = 0;
    const headers = { 'x-minio-error-code': 'AccessDenied', 'x-amz-request-id': 'R' };
    two.intercept = ({ method }) => {
      if (method === 'PUT') tries += 1;
      return { status: 403, headers, text: '' };
    };
    await write('bad');
    await until(async () => expect(await state()).toMatchObject({ held: { events: 1 } }));
    await replace();
    const before = tries;
    await until(() => expect(tries).toBeGreaterThan(before + 2));
    expect(stats.current.failed.count).toBe(1);
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
