import type { StructuredLog } from '../../../platform/output/structured-log.ts';
import { counted } from '../../../platform/text/message-text.ts';
import { randomBytes } from 'node:crypto';
import type { KeySource } from '../../encryption/key-source.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { isReadOnly } from '../../store/commits.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { type Pace, pace } from '../pace.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { MaintenanceError } from '../maintenance-error.ts';
import { parseBatchDefinition } from './batch-definition.ts';
import { type BatchJob, type BatchReplication, batchSecretKey, isWaiting, readJobs, RunningJob } from './batch-jobs.ts';
import type { BatchRemote } from './batch-remote.ts';
import type { DecideForAsker, RequireOfAsker } from './job-rights.ts';
import { jobMetric } from './job-metric.ts';
import type { BatchSecrets, ReplicateDefinition } from './replicate-definition.ts';
import { runReplicationJob } from './run-replication.ts';
import { rotateVersion } from './rotate-version.ts';
import { type BatchObjects, runBatchJob } from './run-batch-job.ts';

interface BatchRound {
  /** The records as the lease holder sees them: its commits are fenced. */
  readonly records: RecordStore;
  readonly objects: BatchObjects & Pick<ObjectLayer, 'headBucket'>;
  readonly keys: KeySource;
  readonly signal: AbortSignal;
}

interface BatchRoundsOptions {
  /** Waits until more records may be read. */
  readonly reads: Pace;
  /** Versions a second that the jobs change. Infinity for no limit. */
  readonly changesPerSecond: number;
  readonly log: Pick<StructuredLog, 'info' | 'warn'>;
  readonly decide: DecideForAsker;
  /** Absent where no job may replicate. */
  readonly replication?: BatchReplication;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/** Returns a function that runs the jobs that wait, one after the other. A job that was interrupted goes on where it was. */
export function batchRounds(options: BatchRoundsOptions): (round: BatchRound) => Promise<void> {
  const { reads, changesPerSecond, log, clock = Date.now, random = randomBytes } = options;
  return async ({ records, objects, keys, signal }) => {
    const waiting = (await readJobs(records)).filter(isWaiting);
    // Nothing can be changed in a read-only store.
    if (waiting.length === 0 || (await isReadOnly(records))) return;
    for (const { id } of waiting) {
      const running = await RunningJob.open(records, random, id);
      if (running === undefined) continue;
      const { job } = running;
      const changes = pace(changesPerSecond, { signal });
      const common = {
        job,
        objects,
        signal,
        require: requireOf(job, options.decide),
        passed: async (read: number, changed: number) => {
          await (read > 0 ? reads(read, signal) : changes(changed));
        },
        checkpoint: (progress: Partial<BatchJob>) => running.save({ ...progress, updated: clock() }),
      };
      let remote: BatchRemote | undefined;
      const run = async () => {
        const definition = parseBatchDefinition(job.definition, job.started);
        if (definition.type === 'replicate') {
          remote = await openRemote(options.replication, definition, id, signal);
          return runReplicationJob({ ...common, remote, definition });
        }
        return runBatchJob({
          ...common,
          definition,
          defaultKey: keys.defaultKey,
          rotate: (version) => rotateVersion({ records, keys, random, clock, keyUses: new Map() }, definition, version),
        });
      };
      try {
        const isDone = await run().catch((error: unknown) => {
          const message = endOf(error, job.bucket);
          if (message === undefined) throw error;
          return running.save({ failed: running.job.failed + 1, failure: { key: '', message } });
        });
        if (!isDone || !(await running.save({ updated: clock(), ended: clock() }))) {
          log.info({ event: 'batch-cancelled', job: id }, `the batch job ${id} was cancelled`);
          continue;
        }
        await endRemote(remote, running.job, options);
      } finally {
        remote?.close();
      }
      const { type, bucket, objects: done, deleteMarkers, failed, failure } = running.job;
      const fields = { event: 'batch-ended', job: id, type, bucket, objects: done, deleteMarkers, failed, failure };
      if (failed === 0) log.info(fields, `the batch job ${id} has ended`);
      else log.warn(fields, `the batch job ${id} has ended, and ${counted(failed, 'version')} failed`);
    }
  };
}

/** Rejects with AccessDenied unless the asker has the rights now, and with `asker-gone` where the job cannot go on. */
function requireOf({ asker, user }: BatchJob, decide: DecideForAsker): RequireOfAsker {
  return async (rights) => {
    if (asker === undefined)
      throw new MaintenanceError('asker-gone', 'an older server started the job, without its rights: start it again');
    let onlyId: string | undefined;
    for (const right of rights) {
      const decision = await decide(asker, right);
      if (decision.kind === 'allowed') {
        const { objectId = onlyId } = decision;
        if (onlyId !== undefined && objectId !== onlyId) {
          throw new S3Error('SlowDown', `${right.resource} was replaced while the rights to it were decided.`);
        }
        onlyId = objectId;
        continue;
      }
      if (decision.kind === 'gone')
        throw new MaintenanceError(
          'asker-gone',
          `the credentials of ${user} with which the job was started are removed, disabled or expired: start it again with others`,
        );
      const action = typeof right.action === 'string' ? right.action : right.action.join(' or ');
      throw new S3Error('AccessDenied', `${user} may not ${action} on ${right.resource}.`);
    }
    return onlyId;
  };
}

async function openRemote(
  replication: BatchReplication | undefined,
  definition: ReplicateDefinition,
  id: string,
  signal: AbortSignal,
): Promise<BatchRemote> {
  const entry = await replication?.sealed.get(batchSecretKey(id));
  if (replication === undefined || entry === undefined)
    throw new MaintenanceError('invalid-job', 'the credentials of the other server are gone: start the job again');
  return replication.open(definition, JSON.parse(entry.value.toString()) as BatchSecrets, signal);
}

/** Sends the report, and removes the secrets. A report that cannot be sent is logged: the job has ended. */
async function endRemote(
  remote: BatchRemote | undefined,
  job: BatchJob,
  { replication, log }: Pick<BatchRoundsOptions, 'replication' | 'log'>,
): Promise<void> {
  try {
    await remote?.notify(jobMetric(job));
  } catch (error) {
    log.warn({ err: error, job: job.id }, `the report of the batch job ${job.id} could not be sent`);
  }
  if (job.type === 'replicate') await replication?.sealed.delete(batchSecretKey(job.id));
}

/** Returns why a job ends before its last version; undefined for an error after which it goes on in another round. */
function endOf(error: unknown, bucket: string): string | undefined {
  if (error instanceof S3Error && error.code === 'NoSuchBucket')
    return `NoSuchBucket: the bucket ${bucket} was removed`;
  // The jobs behind it would wait for good.
  return isUnreadable(error) || error instanceof MaintenanceError ? error.message : undefined;
}
