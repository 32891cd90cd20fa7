import type { StructuredLog } from '../../../platform/output/structured-log.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce, isReadOnly } from '../../store/commits.ts';
import { decodeKey, key, within } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { type Pace, pace } from '../pace.ts';
import { UnreadableBuckets } from '../unreadable-buckets.ts';
import { type LifecycleCounts, type LifecycleObjects, walkBucket } from './walk-bucket.ts';

/** The last walk of a bucket. Times are milliseconds since 1970. */
export interface LifecycleState extends Omit<LifecycleCounts, 'transitioned' | 'waiting'> {
  /** Absent in the state of an older server, as the next one is. */
  readonly transitioned?: number;
  readonly waiting?: number;
  /** The digest of the rules that it applied. */
  readonly rules: string;
  /** The day that it applied them to: the count of days since 1970. */
  readonly day: number;
  readonly began: number;
  /** Absent while it is unfinished. */
  readonly ended?: number;
  /** All keys up to this one are done. */
  readonly after?: string;
  /** A tier did not answer, or was full: the walk is repeated from this time on. */
  readonly retry?: number;
}

/** Milliseconds until a walk that met a tier that is away or full is repeated. */
const RETRY_MS = 60_000;
const MAX_RETRY_MS = 3_600_000;

interface LifecycleRoundsOptions {
  /** Milliseconds of a day. */
  readonly dayMs: number;
  /** Waits until more records may be read. */
  readonly reads: Pace;
  /** Removals a second. */
  readonly removalsPerSecond: number;
  readonly log: Pick<StructuredLog, 'info' | 'warn'>;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/** The lease holder and its records, whose commits are fenced. */
interface LifecycleRound {
  readonly records: RecordStore;
  readonly objects: LifecycleObjects & Pick<ObjectLayer, 'listBuckets' | 'getBucketLifecycle'>;
  readonly signal: AbortSignal;
}

const stateKey = (bucket: string) => key('lifecycle', bucket);

/**
 * Returns a function that walks every bucket whose walk is due: rules are due at midnight UTC alone, so that a bucket is walked once a
 * day, and once more when its rules change. A walk that was interrupted goes on where it was. It throws at the end where a damaged record
 * stopped a walk.
 */
export function lifecycleRounds(options: LifecycleRoundsOptions): (round: LifecycleRound) => Promise<void> {
  const { dayMs, clock = Date.now } = options;
  return async (round) => {
    const { records, objects, signal } = round;
    const states = await readLifecycleStates(records);
    // Nothing can be removed from a read-only store.
    if (await isReadOnly(records)) return;
    const unreadable = new UnreadableBuckets();
    for (const { name } of await objects.listBuckets()) {
      signal.throwIfAborted();
      const state = states.get(name);
      states.delete(name);
      await unreadable.goOnAfter(async () => {
        const rules = await rulesOf(objects, name);
        if (rules === undefined) {
          if (state !== undefined) states.set(name, state);
          return;
        }
        const due = { rules: digestOf(rules), day: Math.floor(clock() / dayMs) };
        const same = state?.rules === due.rules && state.day === due.day;
        if (same && (state.ended !== undefined || (state.retry ?? 0) > clock())) return;
        await walk(options, round, { bucket: name, rules, begin: same ? state : { ...due, ...none, began: clock() } });
      });
    }
    const gone = [...states.keys()].map(stateKey);
    if (gone.length > 0) await commitOnce(records, { delete: gone }, options.random ?? randomBytes);
    unreadable.throwFirst();
  };
}

const none: LifecycleCounts = {
  expired: 0,
  removed: 0,
  aborted: 0,
  locked: 0,
  waiting: 0,
  transitioned: 0,
  failed: 0,
};

async function walk(
  { dayMs, reads, removalsPerSecond, log, clock = Date.now, random = randomBytes }: LifecycleRoundsOptions,
  { records, objects, signal }: LifecycleRound,
  { bucket, rules, begin }: { bucket: string; rules: readonly LifecycleRule[]; begin: LifecycleState },
): Promise<void> {
  const { rules: digest, day, began, after } = begin;
  const { expired, removed, aborted, locked, waiting = 0, transitioned = 0, failed } = begin;
  const counts = { expired, removed, aborted, locked, waiting, transitioned, failed };
  const awayTiers = new Set<string>();
  /** The last key of the pages before a tier was away. */
  let resumeAfter = after;
  const save = (more: Pick<LifecycleState, 'after' | 'ended' | 'retry'>) => {
    const state: LifecycleState = { rules: digest, day, began, ...counts, ...more };
    return commitOnce(records, { put: [{ key: stateKey(bucket), value: encodeRecord(state) }] }, random);
  };
  const removals = pace(removalsPerSecond, { signal });
  await walkBucket({
    objects,
    bucket,
    evaluation: { rules, now: clock(), dayMs },
    after: after ?? '',
    counts,
    signal,
    awayTiers,
    passed: async (read, removing) => {
      await (read > 0 ? reads(read, signal) : removals(removing));
    },
    checkpoint: async (done) => {
      if (awayTiers.size === 0) resumeAfter = done;
      await save({ after: done });
    },
    onFailure: (error, objectKey) => {
      // An `S3Error` has the words for clients. Its cause names the tier or the store.
      const err = error instanceof S3Error ? (error.cause ?? error) : error;
      log.warn(
        { err, bucket, key: objectKey },
        'a lifecycle rule could not remove or move a version; the next walk tries it again',
      );
    },
  });
  const now = clock();
  // The pauses grow with the time that the tier has been away.
  const pause = Math.min(MAX_RETRY_MS, Math.max(RETRY_MS, now - began));
  await save(awayTiers.size > 0 ? { retry: now + pause, after: resumeAfter } : { ended: now });
  if (counts.waiting > 0) {
    log.warn(
      { event: 'lifecycle-waits', bucket, versions: counts.waiting },
      'lifecycle rules left versions that a replication target has not got yet; `replicate backlog` lists them',
    );
  }
  if (Object.values(counts).some((count) => count > 0)) log.info({ bucket, ...counts }, 'applied lifecycle rules');
}

/** Undefined where no rule is enabled, or the bucket is gone. */
async function rulesOf(
  objects: Pick<ObjectLayer, 'getBucketLifecycle'>,
  bucket: string,
): Promise<readonly LifecycleRule[] | undefined> {
  try {
    const rules = await objects.getBucketLifecycle(bucket);
    return rules?.some(({ enabled }) => enabled) === true ? rules : undefined;
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined;
    throw error;
  }
}

function digestOf(rules: readonly LifecycleRule[]): string {
  return createHash('sha256').update(JSON.stringify(rules)).digest('base64');
}

/** Reads the last walks of all buckets with rules, by bucket. */
export async function readLifecycleStates(records: Pick<RecordStore, 'scan'>): Promise<Map<string, LifecycleState>> {
  const states = new Map<string, LifecycleState>();
  for await (const item of records.scan(within('lifecycle'))) {
    if (item.kind !== 'entry') continue;
    const bucket = String(decodeKey(item.key)[1]);
    states.set(bucket, decodeRecord(item.value, `the lifecycle of ${bucket}`) as LifecycleState);
  }
  return states;
}
