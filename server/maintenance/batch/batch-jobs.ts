import { timeoutSignal } from '../../../platform/http/timeout-signal.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commits.ts';
import { key, within } from '../../store/keys.ts';
import { requirePromoted } from '../../store/promotion.ts';
import { type Key, type RecordStore, type Revision } from '../../store/record-store.ts';
import { isStoreError, isStoreUnavailable } from '../../store/store-error.ts';
import { MaintenanceError } from '../maintenance-error.ts';
import { sealedKey, type SealedRecordStore } from '../../encryption/sealed-records.ts';
import { type BatchDefinition, parseBatchDefinition } from './batch-definition.ts';
import type { JobAsker } from './job-rights.ts';
import type { OpenBatchRemote } from './batch-remote.ts';
import { type BatchSecrets, type ReplicateDefinition, splitSecrets } from './replicate-definition.ts';

/** The counts of a job. */
export interface BatchCounts {
  readonly objects: number;
  readonly deleteMarkers: number;
  /** Versions that failed at each attempt, or that a lock holds. */
  readonly failed: number;
  /** Bytes of a job that replicates. */
  readonly bytes?: number;
  readonly failedBytes?: number;
}

/** A batch job. Times are milliseconds since 1970. */
export interface BatchJob extends BatchCounts {
  readonly id: string;
  readonly type: BatchDefinition['type'];
  readonly bucket: string;
  readonly user: string;
  /** Absent in a job that a server started which did not keep it. */
  readonly asker?: JobAsker;
  readonly started: number;
  readonly updated: number;
  /** The YAML, as it was sent, but without secrets, which `batchSecretKey` has. */
  readonly definition: string;
  /** All keys up to this one are done. */
  readonly after?: string;
  readonly ended?: number;
  /** Present with `ended` in a job that a caller ended before its last version. */
  readonly cancelled?: true;
  /** The first failure. */
  readonly failure?: { readonly key: string; readonly message: string };
}

/** Finished jobs whose report is kept, and jobs that wait. */
const maxFinished = 100;
const maxWaiting = 100;
/** Milliseconds for the first look at the other server. */
const checkMs = 15_000;

const jobKey = (id: string) => key('batch-job', id);

export interface BatchJobs {
  /**
   * Throws `MaintenanceError` `invalid-job`, `no-such-bucket`, `busy` where too many wait, and for the other server of a job that replicates
   * `no-such-target`, `remote-refused` or `remote-unavailable`.
   */
  start(definition: string, user: string, asker: JobAsker): Promise<BatchJob>;
  /** All jobs that are kept, from the oldest to the newest. */
  list(): Promise<readonly BatchJob[]>;
  /** Ends a job at its next page. Throws `no-such-job` for one that has ended. */
  cancel(id: string): Promise<void>;
}

interface BatchJobsOptions {
  readonly records: RecordStore;
  readonly objects: Pick<ObjectLayer, 'headBucket'>;
  readonly random: (size: number) => Buffer;
  readonly clock: () => number;
  /** Absent where no job may replicate. */
  readonly replication?: BatchReplication | undefined;
}

/** The services that jobs need to replicate. */
export interface BatchReplication {
  readonly open: OpenBatchRemote;
  /** Keeps the secrets of the jobs. */
  readonly sealed: Pick<SealedRecordStore, 'get' | 'put' | 'delete'>;
}

/** The record of the secrets of a job. It is removed with the end of the job. */
export const batchSecretKey = (id: string) => sealedKey('batch-secret', id);

export function createBatchJobs({ records, objects, random, clock, replication }: BatchJobsOptions): BatchJobs {
  return {
    async start(definition, user, asker) {
      await requirePromoted(records);
      const now = clock();
      const parsed = parseBatchDefinition(definition, now);
      const { type, bucket } = parsed;
      await objects.headBucket(bucket).catch((error: unknown) => {
        if (error instanceof S3Error && error.code === 'NoSuchBucket')
          throw new MaintenanceError('no-such-bucket', `there is no bucket ${bucket}`);
        throw error;
      });
      const jobs = await readJobs(records);
      if (jobs.filter(isWaiting).length >= maxWaiting)
        throw new MaintenanceError('busy', `${maxWaiting} jobs wait: cancel one, or start this one later`);
      const split = parsed.type === 'replicate' ? splitSecrets(definition) : undefined;
      if (parsed.type === 'replicate' && split !== undefined) await checkRemote(replication, parsed, split.secrets);
      const id = `${type}-${random(16).toString('base64url').replaceAll(/[-_]/g, '0')}`;
      const job = {
        id,
        type,
        bucket,
        user,
        asker,
        started: now,
        updated: now,
        definition: split?.definition ?? definition,
        objects: 0,
        deleteMarkers: 0,
        failed: 0,
      };
      if (split !== undefined) {
        await replication?.sealed.put(batchSecretKey(id), Buffer.from(JSON.stringify(split.secrets)));
      }
      const gone = jobs.filter((one) => !isWaiting(one)).slice(0, -maxFinished);
      const put = [{ key: jobKey(id), value: encodeRecord(job) }];
      await commitOnce(records, { put, delete: gone.map((one) => jobKey(one.id)) }, random);
      return job;
    },
    list: () => readJobs(records),
    async cancel(id) {
      await cancelJob({ records, random, clock }, id);
      await replication?.sealed.delete(batchSecretKey(id));
    },
  };
}

/** Marks a job as cancelled. A job that stores its progress at the same moment is read again, so that neither is lost. */
async function cancelJob(
  { records, random, clock }: Pick<BatchJobsOptions, 'records' | 'random' | 'clock'>,
  id: string,
): Promise<void> {
  const recordKey = jobKey(id);
  for (;;) {
    const entry = await records.get(recordKey);
    const job = entry && decodeJob(entry.value);
    if (entry === undefined || job === undefined || !isWaiting(job))
      throw new MaintenanceError('no-such-job', `no job ${id} waits or runs`);
    const now = clock();
    const cancelled: BatchJob = { ...job, updated: now, ended: now, cancelled: true };
    const settled = await commitOnce(
      records,
      {
        expect: [{ kind: 'revision', key: recordKey, revision: entry.revision }],
        put: [{ key: recordKey, value: encodeRecord(cancelled) }],
      },
      random,
    );
    if (settled.kind === 'committed') return;
  }
}

async function checkRemote(
  replication: BatchReplication | undefined,
  definition: ReplicateDefinition,
  secrets: BatchSecrets,
): Promise<void> {
  if (replication === undefined) throw new MaintenanceError('invalid-job', 'this server runs no jobs that replicate');
  const remote = replication.open(definition, secrets, timeoutSignal(checkMs));
  try {
    await remote.check();
  } finally {
    remote.close();
  }
}

/** Reports whether a job waits or runs. */
export function isWaiting({ ended }: BatchJob): boolean {
  return ended === undefined;
}

export async function readJobs(records: Pick<RecordStore, 'scan'>): Promise<readonly BatchJob[]> {
  const jobs: BatchJob[] = [];
  for await (const item of records.scan(within('batch-job')))
    if (item.kind === 'entry') jobs.push(decodeJob(item.value));
  return jobs.toSorted((a, b) => a.started - b.started || (a.id < b.id ? -1 : 1));
}

function decodeJob(value: Buffer): BatchJob {
  return decodeRecord(value, 'a batch job') as BatchJob;
}

/** A job that this server runs. Its progress is stored unless the job was cancelled. */
export class RunningJob {
  #job: BatchJob;
  #revision: Revision;
  readonly #records: RecordStore;
  readonly #random: (size: number) => Buffer;

  private constructor(records: RecordStore, random: (size: number) => Buffer, job: BatchJob, revision: Revision) {
    this.#records = records;
    this.#random = random;
    this.#job = job;
    this.#revision = revision;
  }

  /** Returns undefined for a job that was cancelled or has ended. */
  static async open(
    records: RecordStore,
    random: (size: number) => Buffer,
    id: string,
  ): Promise<RunningJob | undefined> {
    const entry = await records.get(jobKey(id));
    const job = entry && decodeJob(entry.value);
    return job && isWaiting(job) ? new RunningJob(records, random, job, entry.revision) : undefined;
  }

  get job(): BatchJob {
    return this.#job;
  }

  /** Returns false where the job was cancelled. */
  async save(change: Partial<BatchJob>): Promise<boolean> {
    const job = { ...this.#job, ...change };
    const recordKey = jobKey(job.id);
    const expect = [{ kind: 'revision' as const, key: recordKey, revision: this.#revision }];
    const value = encodeRecord(job);
    const settled = await commitOnce(this.#records, { expect, put: [{ key: recordKey, value }] }, this.#random);
    if (settled.kind !== 'committed') return false;
    const revision = settled.revision ?? (await this.#revisionOf(recordKey, value));
    if (revision === undefined) return false;
    this.#job = job;
    this.#revision = revision;
    return true;
  }

  /** Reads the revision of a commit whose answer was lost. Returns undefined where a cancellation came after it. */
  async #revisionOf(recordKey: Key, value: Buffer): Promise<Revision | undefined> {
    const entry = await this.#records.get(recordKey);
    return entry?.value.equals(value) === true ? entry.revision : undefined;
  }
}

/** Reports if the stores or the key service are away, or another server has the lease: another round goes on. */
export function isOfTheStores(error: unknown): boolean {
  if (isStoreUnavailable(error) || isStoreError(error, 'lease-lost')) return true;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return (
    code === 'unavailable' || code === 'ServiceUnavailable' || (error instanceof Error && error.name === 'AbortError')
  );
}
