import { describe, expect, it } from 'vitest';
import type { TargetProgress } from './bucket-replications.ts';
import type { ResyncState } from './replication-stats.ts';
import { replicationMetrics, replicationMetricsV2, resyncView } from './replication-views.ts';

const none = { count: 0, bytes: 0 };
const proxied = { get: 0, getFailed: 0, head: 0, headFailed: 0, tags: 0, tagsFailed: 0 };

function progress(arn: string, more: Partial<TargetProgress> & { readonly resyncId?: string } = {}): TargetProgress {
  const { resyncId, ...rest } = more;
  const resync = resyncId === undefined ? {} : { resync: { id: resyncId, before: 9 } };
  return {
    stored: { target: { arn, bandwidthLimit: 800, ...resync } },
    stats: { replicated: none, failed: none },
    queue: undefined,
    proxied,
    ...rest,
  } as TargetProgress;
}

describe('the metrics of a bucket', () => {
  const targets = [
    progress('one', {
      stats: {
        replicated: { count: 3, bytes: 300 },
        failed: { count: 1, bytes: 10 },
        health: { online: false, downtimeMs: 2_000, outages: 2 },
      },
      queue: {
        events: 4,
        bytes: 40,
        oldest: 0,
        failure: { since: 1_000, error: 'away' },
        held: { events: 2, since: 2_000, error: 'no' },
      } as TargetProgress['queue'],
      proxied: { get: 1, getFailed: 2, head: 3, headFailed: 4, tags: 5, tagsFailed: 6 },
    }),
    progress('two', {
      stats: { replicated: { count: 5, bytes: 500 }, failed: { count: 2, bytes: 20 } },
      proxied: { get: 10, getFailed: 20, head: 30, headFailed: 40, tags: 50, tagsFailed: 60 },
    }),
  ];

  it('are those of its targets, and their sums', () => {
    const { Stats, ...sums } = replicationMetrics(targets);
    expect(sums).toMatchObject({
      completedReplicationSize: 800,
      replicationCount: 8,
      failedReplicationSize: 30,
      failedReplicationCount: 3,
      pendingReplicationSize: 40,
      pendingReplicationCount: 4,
      failed: { totals: { count: 3, bytes: 30 } },
      queued: { curr: { count: 4, bytes: 40 } },
    });
    expect(Stats['one']).toMatchObject({
      completedReplicationSize: 300,
      replicationCount: 3,
      failedReplicationSize: 10,
      failedReplicationCount: 1,
      pendingReplicationSize: 40,
      pendingReplicationCount: 4,
      limitInBits: 800,
      waitingSince: '1970-01-01T00:00:00.000Z',
      failure: { since: '1970-01-01T00:00:01.000Z', error: 'away' },
      held: { events: 2, since: '1970-01-01T00:00:02.000Z', error: 'no' },
    });
    expect(Stats['two']).toMatchObject({ pendingReplicationSize: 0, pendingReplicationCount: 0 });
    expect(Object.keys(Stats['two'] ?? {})).not.toContain('waitingSince');
  });

  it('have outages in nanoseconds and the reads that were passed on', () => {
    expect(replicationMetricsV2(targets, 7)).toMatchObject({
      uptime: 7,
      proxyStats: {
        getProxyTotal: 11,
        getProxyFailed: 22,
        headProxyTotal: 33,
        headProxyFailed: 44,
        getTaggingProxyTotal: 55,
        getTaggingProxyFailed: 66,
      },
      downtimeInfo: {
        one: { duration: { total: 2e9 }, count: { total: 2 } },
        two: { duration: { total: 0 }, count: { total: 0 } },
      },
    });
  });
});

const state = (more: Partial<ResyncState>): ResyncState => ({
  id: 'r',
  before: 9,
  started: 1_000,
  walked: true,
  queued: 3,
  replicated: { count: 2, bytes: 20 },
  failed: none,
  ...more,
});
const view = (resync: ResyncState | undefined, resyncId = 'r') => {
  const stats = { replicated: none, failed: none, ...(resync && { resync }) };
  return resyncView('photos', [progress('one'), progress('two', { resyncId, stats })]).target;
};

describe('the progress of a resync', () => {
  it.each<[string, ResyncState | undefined, string]>([
    ['Pending before its first page', undefined, 'Pending'],
    ['Ongoing until its last delivery', state({}), 'Ongoing'],
    ['Completed where nothing failed', state({ ended: 2_000 }), 'Completed'],
    ['Canceled where an administrator ended it', state({ canceled: 1_500 }), 'Canceled'],
    ['Canceled at its end too', state({ canceled: 1_500, ended: 2_000, failed: { count: 1, bytes: 10 } }), 'Canceled'],
    ['Failed where one version did', state({ ended: 2_000, failed: { count: 1, bytes: 10 } }), 'Failed'],
  ])('is %s', (_, resync, resyncStatus) => {
    expect(view(resync)).toMatchObject([{ arn: 'two', resetid: 'r', resyncStatus }]);
  });

  it('is Pending for one that was asked for after the last', () => {
    expect(view(state({ ended: 2_000 }), 'later')).toMatchObject([{ resetid: 'later', resyncStatus: 'Pending' }]);
  });

  it('has the counts, the times and the place of the walk', () => {
    expect(view(state({ next: { key: 'k' }, failed: { count: 1, bytes: 10 } }))).toEqual([
      {
        arn: 'two',
        resetid: 'r',
        startTime: '1970-01-01T00:00:01.000Z',
        endTime: '0001-01-01T00:00:00Z',
        resyncStatus: 'Ongoing',
        completedReplicationSize: 20,
        failedReplicationSize: 10,
        failedReplicationCount: 1,
        replicationCount: 2,
        bucket: 'photos',
        object: 'k',
      },
    ]);
  });
});
