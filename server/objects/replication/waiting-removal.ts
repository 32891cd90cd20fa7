import { targetIdOf } from '../../../protocol/s3/bucket-replication.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Entry } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { outboxKeys } from '../events/outbox.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import { isUnreadable } from '../records/damage.ts';
import { NULL_VERSION } from '../versions/find-version.ts';
import { decodeReplication, type QueuedReplication, replicationQueue } from './queue-replication.ts';

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
  for (const arn of arns) {
    const target = targetIdOf(arn);
    if (target === undefined) continue;
    for await (const item of records.scan(outboxKeys.ofObject(replicationQueue(target), { bucket, key }))) {
      // A key may have many changes in the queue: most are told from a removal without being decoded.
      if (item.kind !== 'entry' || !item.value.includes(removal)) continue;
      const queued = readable(item);
      if (queued?.kind !== 'removal' || queued.versionId !== versionId || queued.key !== key) continue;
      // A newer null version is another one.
      if (versionId === NULL_VERSION && queued.modified !== modified.getTime()) continue;
      throw new S3Error(
        'OperationAborted',
        `Version ${versionId} of ${key.slice(0, 64)} was removed here, and the replication target ${arn} has not got the removal: \`replicate backlog\` shows why. The wait ends when the target takes it, or when no rule names the target any more.`,
      );
    }
  }
}

/** What the record of a removal has in its JSON. */
const removal = Buffer.from('"removal"');

/** The delivery reports a damaged record, which must not hold up all versions of its key. */
function readable(entry: Entry): QueuedReplication | undefined {
  try {
    return decodeReplication(entry);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return undefined;
  }
}
