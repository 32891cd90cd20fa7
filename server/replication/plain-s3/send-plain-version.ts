import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectInfo } from '../../objects/contract/object-layer.ts';
import type { QueuedReplication } from '../../objects/replication/queue-replication.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { sendBody, type Sender, type Sent } from '../send-body.ts';
import { isMissing, removedThere } from '../version-there.ts';
import { checkAnswer } from '../target-client.ts';
import { type Copy, type Current, currentCopy, findInHistory, isSought, type Sought } from './find-copy.ts';
import { isUnmarkedCopy, markOf, takesMark } from './plain-headers.ts';
import { releaseLegalHold, sendPlainAttributes } from './send-plain-attributes.ts';

/**
 * Sends a queued change to an S3 server without the extensions of MinIO, such as AWS. Each version becomes a new version there, in the order
 * of the queue, with an id of that server. Rejects with `DeliveryError`, and the errors of the object layer.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
 */
export async function sendPlainVersion(sender: Sender, queued: QueuedReplication): Promise<Sent> {
  const { kind, bucket, key, versionId } = queued;
  if (kind === 'removal') throw removalImpossible(queued);
  try {
    if (kind === 'version') return await sendWhole(sender, queued);
    const info = await sender.objects.headObject(bucket, key, { versionId });
    const sought = soughtCopy(info, versionId);
    const copy = await findCopy(sender, key, sought);
    if (copy !== undefined) {
      await sendPlainAttributes(sender.client, info, copy);
      return { version: { changed: info.replication?.changed }, bytes: 0 };
    }
    if (sought.isUnmarkedCopy !== undefined) throw unmarked(queued);
    return isMissing(sender, info) ? await sendWhole(sender, queued) : removedThere(info);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    if (error.code === 'NoSuchKey' || error.code === 'NoSuchVersion' || error.code === 'NoSuchBucket') {
      await releaseHoldOfRemoved(sender, queued);
      return { bytes: 0 };
    }
    if (error.code !== 'MethodNotAllowed') throw error;
    await sendMarker(sender, queued);
    return { version: { changed: undefined }, bytes: 0 };
  }
}

function removalImpossible({ key, versionId }: QueuedReplication): DeliveryError {
  return new DeliveryError(
    'impossible',
    `the removal of version ${versionId} of ${key} cannot be replicated: the target is no Coffer or MinIO, and has ids of its own`,
  );
}

/** Nearly 2 KiB of user metadata leave no space for the mark. Such a copy is known by its content. */
function soughtCopy(info: ObjectInfo, versionId: string): Sought {
  const mark = markOf(versionId, info.lastModified);
  return takesMark(info) ? { mark } : { mark, isUnmarkedCopy: (headers) => isUnmarkedCopy(info, headers) };
}

function unmarked({ key, versionId }: QueuedReplication): DeliveryError {
  return new DeliveryError(
    'impossible',
    `the tags and the lock of version ${versionId} of ${key} cannot be replicated: its copy is not known, since nearly 2 KiB of user ` +
      'metadata leave no space for the id of the version; change them at the target by hand, or write the object with less metadata',
  );
}

/** Undefined where there is none, or where several copies without a mark are the same. */
async function findCopy({ client }: Sender, key: string, sought: Sought): Promise<Copy | undefined> {
  const current = await currentCopy(client, key);
  if (current.kind === 'none') return undefined;
  if (sought.isUnmarkedCopy === undefined && current.kind === 'object' && isSought(sought, current)) return current;
  const { copy, isAmbiguous } = await findInHistory(client, key, sought);
  return isAmbiguous ? undefined : copy;
}

/** A version that is removed here has no id to find it by, if it was the null version. */
async function releaseHoldOfRemoved(sender: Sender, { key, versionId, legalHold }: QueuedReplication): Promise<void> {
  if (legalHold !== false || versionId === 'null') return;
  const copy = await findCopy(sender, key, { mark: versionId });
  if (copy !== undefined) await releaseLegalHold(sender.client, key, copy);
}

async function sendWhole(sender: Sender, queued: QueuedReplication): Promise<Sent> {
  const { bucket, key, versionId } = queued;
  const object = await sender.objects.getObject(bucket, key, { versionId });
  const { info } = object;
  if (info.replication?.waiting?.includes(sender.targetId) !== true) return { bytes: 0 };
  const version = { changed: info.replication.changed };
  const current = await currentCopy(sender.client, key);
  if (await isThere(sender, queued, info, current)) return { version, bytes: 0 };
  await sendBody(sender, object, versionId, { targetKey: key, kind: 'plain' });
  return { version, bytes: info.size };
}

/**
 * Reports whether the target has a version. The other server puts each version above all it has: one that is older than its newest version
 * has no place there any more.
 */
async function isThere(
  sender: Sender,
  { bucket, key, versionId, resync }: QueuedReplication,
  info: ObjectInfo,
  current: Current,
): Promise<boolean> {
  const sought = soughtCopy(info, versionId);
  const { mark } = sought;
  if (current.kind === 'none') return false;
  if (current.kind === 'object' && current.mark === mark) return true;
  const isOlder = current.kind === 'object' && current.mark !== undefined && current.mark > mark;
  // The queue has the order of the versions. A resync has what may be there already.
  if (!isOlder && resync === undefined) return false;
  if ((await findInHistory(sender.client, key, sought)).copy !== undefined) return true;
  if (isOlder || (current.kind === 'marker' && !(await isLatest(sender, { bucket, key, versionId })))) {
    throw new DeliveryError(
      'impossible',
      `version ${versionId} of ${key} cannot be replicated any more: the target has a newer one, and S3 takes no version before it`,
    );
  }
  return false;
}

async function isLatest(
  { objects }: Sender,
  { bucket, key, versionId }: Pick<QueuedReplication, 'bucket' | 'key' | 'versionId'>,
): Promise<boolean> {
  try {
    return ((await objects.headObject(bucket, key)).versionId ?? 'null') === versionId;
  } catch (error) {
    if (error instanceof S3Error && error.status < 500) return false;
    throw error;
  }
}

/** Delete markers that follow each other are one there: a delivery that is repeated must not add a second one. */
async function sendMarker({ client }: Sender, { key, versionId }: QueuedReplication): Promise<void> {
  const current = await currentCopy(client, key);
  if (current.kind === 'marker') return;
  if (current.kind === 'object' && current.mark !== undefined && current.mark > versionId) {
    if ((await findInHistory(client, key, { mark: versionId })).hasDeleteMarker) return;
    throw new DeliveryError(
      'impossible',
      `the delete marker ${versionId} of ${key} cannot be replicated any more: the target has a newer version`,
    );
  }
  checkAnswer(await client.send({ method: 'DELETE', key }), `add the delete marker ${versionId} of ${key}`);
}
