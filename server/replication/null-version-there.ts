import { isMarkedAsS3 } from '../../protocol/s3/s3-answer.ts';
import type { QueuedReplication } from '../objects/replication/queue-replication.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import type { Sender } from './send-body.ts';
import { checkAnswer, isAbsentThere } from './target-client.ts';

/**
 * Refuses to send a null version to a target that has another null version of its own clients: a MinIO would replace it. A Coffer refuses that
 * itself, whatever comes between this question and the version. Rejects with `DeliveryError`.
 */
export async function checkNullThere(
  { client }: Pick<Sender, 'client'>,
  { key, versionId, modified }: Pick<QueuedReplication, 'key' | 'versionId' | 'modified'>,
): Promise<void> {
  if (!(await isOtherThere({ client }, { key, versionId, modified }))) return;
  throw new DeliveryError(
    'rejected',
    `the target has another null version of ${key}, which its own clients wrote: it is not replaced; remove one of them`,
  );
}

/** Reports whether the null version of a target is another one, which its own clients wrote. */
export async function isOtherThere(
  { client }: Pick<Sender, 'client'>,
  { key, versionId, modified }: Pick<QueuedReplication, 'key' | 'versionId' | 'modified'>,
): Promise<boolean> {
  if (versionId !== 'null') return false;
  const answer = await client.send({ method: 'HEAD', key, query: { versionId } });
  if (isAbsentThere(answer)) return false;
  const { status, headers } = answer;
  // A delete marker is answered with 405.
  if (status !== 405 || !isMarkedAsS3(headers))
    checkAnswer(answer, `look for the null version of ${key} at the target`);
  // MinIO has the state of a delete marker in a header of its own.
  const state = headers['x-amz-replication-status'] ?? headers['x-minio-replication-deletemarker-status'];
  return state !== 'REPLICA' && !isSame(headers['last-modified'], modified);
}

/** Times in headers are whole seconds. The target compares the milliseconds. */
function isSame(there: unknown, modified: number | undefined): boolean {
  if (typeof there !== 'string' || modified === undefined) return false;
  return Date.parse(there) === Math.floor(modified / 1_000) * 1_000;
}
