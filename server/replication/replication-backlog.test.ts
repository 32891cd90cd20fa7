import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { replicatedRule, replicatedTarget as id } from '../../test/support/replication/replicated-rule.ts';
import { testLayer } from '../../test/support/objects/test-layer.ts';
import type { AskedBacklog, BacklogEntry } from '../../protocol/admin/replication-backlog.ts';
import { outboxKeys, uniquePart } from '../objects/events/outbox.ts';
import { encodeRecord } from '../objects/records/record-format.ts';
import { type QueuedReplication, replicationQueue } from '../objects/replication/queue-replication.ts';
import { encodeHeld } from '../outbox/held-records.ts';
import { encodeState, type QueueState } from '../outbox/queue-state.ts';
import { commitOnce } from '../store/commits.ts';
import { replicationBacklog } from './replication-backlog.ts';

const bucket = 'bucket';
const queue = replicationQueue(id);
const { arn } = remoteTarget(id).target;
const versionId = '1'.repeat(32);

/** A bucket with the removals of two versions in the queue of its target, which has refused the one of `refused`. */
async function withRemovals(state: Partial<QueueState>) {
  const { layer: objects, records } = testLayer();
  await objects.createBucket(bucket, { location: '' });
  await objects.putBucketVersioning(bucket, { status: 'Enabled' });
  await objects.putBucketReplication(bucket, { rules: [replicatedRule] });
  const entryOf = (key: string) => {
    const queued: QueuedReplication = { kind: 'removal', time: 5, bucket, key, versionId, size: 0 };
    const unique = uniquePart({ time: 5, bucket }, randomBytes);
    return { key: outboxKeys.event(queue, { bucket, key }, unique), value: encodeRecord(queued) };
  };
  const refused = entryOf('refused');
  const put = [
    entryOf('waiting'),
    refused,
    { key: outboxKeys.held(refused.key), value: encodeHeld({ since: 6, error: 'AccessDenied' }) },
  ];
  await commitOnce(records, { put }, randomBytes);
  const value = encodeState({ events: 2, bytes: 9, delivered: 0, failures: 1, ...state });
  await commitOnce(records, { put: [{ key: outboxKeys.state(queue), value }] }, randomBytes);
  const targets = { ofBucket: () => Promise.resolve([remoteTarget(id)]) };
  return async (show: AskedBacklog['show']) => {
    const list = await replicationBacklog({ targets, records, objects }, { bucket, prefix: '', arn: '', show });
    const entries: BacklogEntry[] = [];
    for await (const some of list(new AbortController().signal)) entries.push(...some);
    const shown = entries.map(({ key, status, targets: at, error }) => [key, { status, at: at[arn], error }] as const);
    return Object.fromEntries(shown);
  };
}

describe('the removals that wait for a target', () => {
  const refused = { status: 'FAILED', at: 'FAILED', error: 'AccessDenied' };

  it('have each its own state and error', async () => {
    const list = await withRemovals({ held: { events: 2, since: 1, error: 'of another version' } });
    const waiting = { status: 'PENDING', at: 'PENDING', error: undefined };
    expect(await list('waiting')).toEqual({ refused, waiting });
    expect(await list('failed')).toEqual({ refused });
  });

  it('wait, with the failure of a target that is away', async () => {
    const failure = { since: 1, error: 'ECONNREFUSED', away: true } as const;
    const list = await withRemovals({ failure, held: { events: 1, since: 1, error: 'AccessDenied' } });
    const waiting = { status: 'PENDING', at: 'PENDING', error: 'ECONNREFUSED' };
    expect(await list('waiting')).toEqual({ refused, waiting });
    expect(await list('failed')).toEqual({ refused });
  });
});
