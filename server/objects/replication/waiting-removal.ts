import { targetIdOf } from '../../../protocol/s3/bucket-replication.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Entry, ScanRange } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { outboxKeys } from '../events/outbox.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import { isUnreadable } from '../records/damage.ts';
import { NULL_VERSION } from '../versions/find-version.ts';
import { decodeReplication, type QueuedReplication, removalName, replicationQueue } from './queue-replication.ts';

/**
 * Refuses a version of another server that a client of this one has removed, while a target has not got the removal: the sender may be that
 * target, and would lose the version afterwards. The caller has looked for the version before: its removal and the record in the queue are one
 * commit. Throws `OperationAborted`.
 */
export async function checkNotRemoved(
  { records }: Pick<ObjectContext, 'records'>,
  { bucket, key, stored }: { readonly bucket: string; readonly key: string; readonly stored: BucketRecord },
  { versionId, modified }: { readonly versionId: string; readonly modified: Date },
): Promise<void> {
  const arns = new Set(stored.replication?.rules.map(({ target }) => target));
  const version = { versionId, modified: modified.getTime() };
  for (const arn of arns) {
    const target = targetIdOf(arn);
    if (target === undefined) continue;
    for await (const queued of removalsOf(records, replicationQueue(target), { bucket, key }, version)) {
      if (queued.kind !== 'removal' || queued.versionId !== versionId || queued.key !== key) continue;
      // A newer null version is another one.
      if (versionId === NULL_VERSION && queued.modified !== version.modified) continue;
      throw new S3Error(
        'OperationAborted',
        `Version ${versionId} of ${key.slice(0, 64)} was removed here, and the replication target ${arn} has not got the removal: \`replicate backlog\` shows why. The wait ends when the target takes it, or when no rule names the target any more.`,
      );
    }
  }
}

type Records = Pick<ObjectContext, 'records'>['records'];

/**
 * Yields what may be the removal of a version. The queue may have many thousand other changes of the key, which are not read. Servers of earlier
 * releases, which may run now or later, queue removals under the time alone, as all other changes: what is queued so is read.
 */
async function* removalsOf(
  records: Records,
  queue: string,
  object: { readonly bucket: string; readonly key: string },
  version: Pick<QueuedReplication, 'versionId' | 'modified'>,
): AsyncGenerator<QueuedReplication> {
  yield* readableOf(records, outboxKeys.ofName(queue, object, removalName(version)));
  yield* readableOf(records, outboxKeys.ofTimes(queue, object));
}

/** Leaves out damaged records, which the delivery reports: they must not hold up all versions of their keys. */
async function* readableOf(records: Records, range: ScanRange): AsyncGenerator<QueuedReplication> {
  for await (const item of records.scan(range)) {
    if (item.kind !== 'entry') continue;
    const queued = readable(item);
    if (queued !== undefined) yield queued;
  }
}

function readable(entry: Entry): QueuedReplication | undefined {
  try {
    return decodeReplication(entry);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return undefined;
  }
}
