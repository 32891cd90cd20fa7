import { BucketReplications } from '../replication/bucket-replications.ts';
import { ProxiedCounts } from '../replication/proxying/proxied-counts.ts';
import { ProxiedReads } from '../replication/proxying/proxied-reads.ts';
import { RemoteTargets } from '../replication/remote-targets.ts';
import { replicationBacklog } from '../replication/replication-backlog.ts';
import { replicationMetrics, replicationMetricsV2, resyncView } from '../replication/replication-views.ts';
import { SynchronousReplication } from '../replication/synchronous-replication.ts';
import { TargetAdministration } from '../replication/target-administration.ts';
import type { AdminServices } from '../administration/services.ts';
import type { Replications } from '../s3/operation.ts';
import { requirePromoted } from '../store/promotion.ts';
import type { Services } from './services.ts';

/** The replication of buckets, for the S3 and the admin API of a thread. */
export function openReplications(
  { stores, sealed, objects }: Pick<Services, 'stores' | 'sealed' | 'objects'>,
  startedAt: number,
  stopping: AbortSignal,
): {
  readonly s3: Replications;
  readonly targets: NonNullable<AdminServices['remoteTargets']>;
  readonly backlog: NonNullable<AdminServices['replicationBacklog']>;
} {
  const { records } = stores;
  const targets = new RemoteTargets(sealed);
  const replications = new BucketReplications({ targets, records, objects });
  const counts = new ProxiedCounts(records);
  const proxied = new ProxiedReads({
    targets,
    records,
    objects,
    counts,
    requirePromoted: () => requirePromoted(records),
  });
  const synchronous = new SynchronousReplication({ targets, records, objects, stopping });
  return {
    targets: new TargetAdministration({ targets, records, objects }),
    backlog: { list: (asked) => replicationBacklog({ targets, records, objects }, asked) },
    s3: {
      put: (bucket, configuration) => replications.put(bucket, configuration),
      remove: (bucket) => replications.remove(bucket),
      async metrics(bucket, version) {
        const progress = await replications.progress(bucket);
        const uptime = Math.round((Date.now() - startedAt) / 1_000);
        return version === 2 ? replicationMetricsV2(progress, uptime) : replicationMetrics(progress);
      },
      async startResync(bucket, resync) {
        const { arn, id } = await replications.startResync(bucket, resync);
        return { target: [{ arn, resetid: id }] };
      },
      cancelResync: (bucket, arn) => replications.cancelResync(bucket, arn),
      readElsewhere: (read) => proxied.read(read),
      readTagsElsewhere: (read) => proxied.readTags(read),
      waitFor: (written) => synchronous.wait(written),
      async resyncs(bucket, arn) {
        const progress = await replications.progress(bucket);
        return resyncView(
          bucket,
          progress.filter(({ stored }) => arn === '' || stored.target.arn === arn),
        );
      },
    },
  };
}
