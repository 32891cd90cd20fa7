import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import type { ObjectInfo, ReplicationState } from '../objects/contract/object-layer.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { encodeState } from '../outbox/queue-state.ts';
import { commitOnce } from '../store/commits.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { SynchronousReplication } from './synchronous-replication.ts';

const id = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';
const pending: ReplicationState = { status: 'PENDING', waiting: [id] };
const written = { bucket: 'bucket', key: 'key', versionId: 'v', replication: pending };

let records: MemoryRecordStore;
let looks: number;
let now: number;
beforeEach(() => {
  records = new MemoryRecordStore();
  looks = 0;
  now = 0;
});

interface Given {
  readonly sync?: boolean;
  readonly maxWaitMs?: number;
  readonly maxWaiting?: number;
  readonly stopping?: AbortSignal;
  /** The state of the version at each look. */
  readonly states?: readonly (ReplicationState | undefined | 'gone')[];
}

/** Each look takes 100 ms of the clock. */
function replication({ sync = true, states = [], ...more }: Given = {}): SynchronousReplication {
  return new SynchronousReplication({
    records,
    clock: () => now,
    targets: { ofBucket: () => Promise.resolve([remoteTarget(id, { sync })]) },
    objects: {
      headObject: () => {
        const state = looks < states.length ? states[looks] : pending;
        looks += 1;
        now += 100;
        if (state === 'gone') return Promise.reject(new Error('no such version'));
        return Promise.resolve({ ...written, replication: state } as unknown as ObjectInfo);
      },
    },
    ...more,
  });
}

describe('the answer to a write waits', () => {
  it.each<[string, ReplicationState | undefined | 'gone']>([
    ['the target has the version', { status: 'COMPLETED' }],
    ['the target has refused it', { status: 'FAILED', waiting: [id] }],
    ['only other targets wait for it', { status: 'PENDING', waiting: ['other'] }],
    ['the version has no state any more', undefined],
    ['the version is gone', 'gone'],
  ])('until %s', async (_what, last) => {
    await replication({ states: [pending, pending, last] }).wait(written);
    expect(looks).toBe(3);
  });

  it('not any more when the server stops', async () => {
    const stopping = AbortSignal.abort();
    await replication({ stopping }).wait(written);
    expect(looks).toBe(0);
    const later = new AbortController();
    const ended = replication({ stopping: later.signal, maxWaitMs: Number.MAX_SAFE_INTEGER }).wait(written);
    later.abort();
    await ended;
    expect(later.signal.aborted).toBe(true);
  });

  it('for a limited time', async () => {
    await replication({ maxWaitMs: 500 }).wait(written);
    expect(looks).toBe(5);
  });

  it('not for a target that asks for no wait', async () => {
    await replication({ sync: false }).wait(written);
    expect(looks).toBe(0);
  });

  it('not where nothing of the version is queued', async () => {
    await replication().wait({ ...written, replication: { status: 'REPLICA' } });
    expect(looks).toBe(0);
  });

  it('not for more writes than the limit', async () => {
    const one = replication({ maxWaiting: 1, states: [pending, { status: 'COMPLETED' }] });
    await Promise.all([one.wait(written), one.wait(written)]);
    expect(looks).toBe(2);
  });

  it('not while the target is away, and not any more when it is found away', async () => {
    const failure = { since: 1, error: 'e', away: true } as const;
    const state = { events: 1, bytes: 1, delivered: 0, failures: 1, failure };
    const setAway = () =>
      commitOnce(
        records,
        { put: [{ key: outboxKeys.state(replicationQueue(id)), value: encodeState(state) }] },
        randomBytes,
      );
    const waiting = replication();
    const ended = waiting.wait(written);
    await setAway();
    await ended;
    const before = looks;
    await waiting.wait(written);
    expect(looks).toBe(before);
  });
});
