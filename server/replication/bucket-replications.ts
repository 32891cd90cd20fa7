import { randomUUID } from 'node:crypto';
import type { ReplicationConfiguration } from '../../protocol/s3/bucket-replication.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { type QueueState, readState } from '../outbox/queue-state.ts';
import { requirePromoted } from '../store/promotion.ts';
import type { RecordStore } from '../store/record-store.ts';
import { type ProxiedTotals, readProxied } from './proxying/proxied-counts.ts';
import { checkRuleOf } from './plain-s3/target-kind.ts';
import type { RemoteTargets, StoredTarget } from './remote-targets.ts';
import { readStats, type ReplicationStats } from './replication-stats.ts';

/** A target of a bucket with its counters and its queue. */
export interface TargetProgress {
  readonly stored: StoredTarget;
  readonly stats: ReplicationStats;
  readonly queue: QueueState | undefined;
  readonly proxied: ProxiedTotals;
}

interface BucketReplicationsOptions {
  readonly targets: RemoteTargets;
  readonly records: RecordStore;
  readonly objects: Pick<ObjectLayer, 'getBucketReplication' | 'putBucketReplication'>;
  readonly clock?: () => number;
}

/** The replication of buckets, as the S3 API changes and shows it. Errors are `S3Error`s. */
export class BucketReplications {
  readonly #options: BucketReplicationsOptions;

  constructor(options: BucketReplicationsOptions) {
    this.#options = options;
  }

  /** Each rule must name a remote target of the bucket, and ask for what it can do. */
  async put(
    bucket: string,
    configuration: ReplicationConfiguration,
    objects: Pick<ObjectLayer, 'putBucketReplication'> = this.#options.objects,
  ): Promise<void> {
    const { targets } = this.#options;
    const known = new Map((await targets.ofBucket(bucket)).map(({ target }) => [target.arn, target]));
    for (const rule of configuration.rules) {
      const target = known.get(rule.target);
      if (target === undefined) {
        throw new S3Error('XMinioAdminRemoteTargetNotFoundError', undefined, { details: { Arn: rule.target } });
      }
      checkRuleOf(rule, target);
    }
    await objects.putBucketReplication(bucket, configuration);
  }

  /** Ends the replication of a bucket, and removes its targets, as MinIO does. */
  async remove(
    bucket: string,
    objects: Pick<ObjectLayer, 'putBucketReplication'> = this.#options.objects,
  ): Promise<void> {
    const { targets } = this.#options;
    await objects.putBucketReplication(bucket, undefined);
    for (const stored of await targets.ofBucket(bucket)) await targets.remove(stored);
  }

  /** Throws `ReplicationConfigurationNotFoundError`. */
  async progress(bucket: string): Promise<readonly TargetProgress[]> {
    const { targets, records } = this.#options;
    const { rules } = await this.#configuration(bucket);
    const used = new Set(rules.map(({ target }) => target));
    const stored = (await targets.ofBucket(bucket)).filter(({ target }) => used.has(target.arn));
    return Promise.all(
      stored.map(async (one) => ({
        stored: one,
        stats: await readStats(records, one.id),
        queue: await readState(records, replicationQueue(one.id)),
        proxied: await readProxied(records, one.id),
      })),
    );
  }

  /** Starts to send what is older than `olderThanMs` again, and resolves with the id of the resync. */
  async startResync(
    bucket: string,
    {
      arn,
      olderThanMs,
      id = randomUUID(),
    }: { readonly arn: string; readonly olderThanMs: number; readonly id?: string | undefined },
  ): Promise<{ readonly arn: string; readonly id: string }> {
    const { targets, records, clock = Date.now } = this.#options;
    await requirePromoted(records);
    const { stored, ofTarget } = await this.#target(bucket, arn);
    const only = stored.target.arn;
    if (!ofTarget.some(({ enabled, existingObjects }) => enabled && existingObjects)) {
      throw new S3Error('XMinioReplicationNoExistingObjects');
    }
    if (await this.#isRunning(stored)) {
      throw new S3Error(
        'InvalidRequest',
        `Resync of bucket ${bucket} is already in progress for remote bucket ${only}`,
      );
    }
    const before = clock() - olderThanMs;
    if (!(await targets.replace(stored, { ...stored.target, resync: { id, before } }))) {
      throw new S3Error('SlowDown', 'The target was changed by others at the same time; try again.');
    }
    return { arn: only, id };
  }

  /** Ends a resync, and resolves with its id. What it has queued is still sent. Throws `InvalidRequest` where none runs. */
  async cancelResync(bucket: string, arn: string): Promise<string> {
    const { targets, clock = Date.now } = this.#options;
    const { stored } = await this.#target(bucket, arn);
    const { resync } = stored.target;
    if (resync === undefined || resync.canceled !== undefined || !(await this.#isRunning(stored))) {
      throw new S3Error(
        'InvalidRequest',
        `No resync of bucket ${bucket} is in progress for remote bucket ${stored.target.arn}`,
      );
    }
    if (!(await targets.replace(stored, { ...stored.target, resync: { ...resync, canceled: clock() } }))) {
      throw new S3Error('SlowDown', 'The target was changed by others at the same time; try again.');
    }
    return resync.id;
  }

  /** Finds the target of a resync, and the rules that name it. '' is the only target of the bucket. */
  async #target(
    bucket: string,
    arn: string,
  ): Promise<{ readonly stored: StoredTarget; readonly ofTarget: ReplicationConfiguration['rules'] }> {
    const { rules } = await this.#configuration(bucket);
    const ofTarget = rules.filter(({ target }) => arn === '' || target === arn);
    const arns = [...new Set(ofTarget.map(({ target }) => target))];
    const [only] = arns;
    if (only === undefined) throw new S3Error('XMinioAdminRemoteTargetNotFoundError');
    if (arns.length > 1) throw new S3Error('InvalidRequest', 'ARN should be specified for replication reset');
    const stored = await this.#options.targets.get(bucket, only);
    if (stored === undefined) throw new S3Error('XMinioAdminRemoteTargetNotFoundError');
    return { stored, ofTarget };
  }

  async #isRunning({ id, target }: StoredTarget): Promise<boolean> {
    if (target.resync === undefined) return false;
    const { resync } = await readStats(this.#options.records, id);
    return resync?.id !== target.resync.id || resync.ended === undefined;
  }

  async #configuration(bucket: string): Promise<ReplicationConfiguration> {
    const configuration = await this.#options.objects.getBucketReplication(bucket);
    if (configuration === undefined) throw new S3Error('ReplicationConfigurationNotFoundError');
    return configuration;
  }
}

/** Returns the state of the last resync, also of one that was asked for or canceled a moment ago. */
export function resyncOf({ stored, stats }: TargetProgress): ReplicationStats['resync'] {
  const asked = stored.target.resync;
  if (asked === undefined) return stats.resync;
  const canceled = asked.canceled === undefined ? {} : { canceled: asked.canceled };
  if (stats.resync?.id === asked.id)
    return stats.resync.ended === undefined ? { ...stats.resync, ...canceled } : stats.resync;
  const none = { count: 0, bytes: 0 };
  return { ...asked, started: 0, walked: false, queued: 0, replicated: none, failed: none };
}
