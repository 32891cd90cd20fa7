import { removedVersionTime } from '../../protocol/s3/bucket-replication.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { attributesOf } from '../../protocol/s3/copies/copied-attributes.ts';
import { refuseAllHidden, replacingHeaders } from '../../protocol/s3/copies/copy-headers.ts';
import { percentEncodePath } from '../../protocol/uri/percent-encoding.ts';
import { compareInstants, type Instant, writeInstant } from '../objects/contract/instant.ts';
import type { ObjectInfo } from '../objects/contract/object-layer.ts';
import type { QueuedReplication } from '../objects/replication/queue-replication.ts';
import type { RemoteTarget } from '../../protocol/admin/remote-target.ts';
import { attributeHeaders, replicationRequest, sourceVersionId } from './replica-request.ts';
import { taggingOf } from './attributes-of-info.ts';
import { tagsOf } from './remote-tags.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import { checkNullThere, isOtherThere } from './null-version-there.ts';
import { isThere } from './body-there.ts';
import { changeOf, isMissing, removedThere } from './version-there.ts';
import { sendPlainVersion } from './plain-s3/send-plain-version.ts';
import { sendBody, type Sender, type Sent, type SentForm, storageClassOf } from './send-body.ts';
import { isMarkedAsS3 } from '../../protocol/s3/s3-answer.ts';
import { checkAnswer, isAbsentThere, type TargetAnswer } from './target-client.ts';

/** Bodies from this size on are sent only where the target has not got the version already. */
const askFirstBytes = 8 * 1024 * 1024;

/** Sends a queued change to a target. Rejects with `DeliveryError`, and the errors of the object layer. */
export async function sendVersion(sender: Sender, queued: QueuedReplication): Promise<Sent> {
  if (sender.target.kind === 's3') return sendPlainVersion(sender, queued);
  if (queued.kind === 'removal') {
    await sendRemoval(sender, queued);
    return { bytes: 0 };
  }
  try {
    const { kind, bucket, key, versionId, resync } = queued;
    if (kind === 'version' && resync === undefined) return await sendWhole(sender, queued);
    const info = await sender.objects.headObject(bucket, key, { versionId });
    // A target may have another null version.
    const isOther = (resync !== undefined || versionId === 'null') && !(await isThere(sender, info, versionId));
    if (!isOther && (await sendAttributes(sender, withTimesOf(info, queued), versionId))) {
      await checkLock(sender, info, queued);
      return { version: changeOf(info), bytes: 0 };
    }
    if (resync === undefined && !isMissing(sender, info)) {
      await checkNullThere(sender, queued);
      return removedThere(info);
    }
    await checkNullThere(sender, queued);
    return await sendWhole(sender, queued);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    if (isGone(error)) {
      if (changedLock(queued)) await endLock(sender, queued);
      return { bytes: 0 };
    }
    if (error.code !== 'MethodNotAllowed') throw error;
    await checkNullThere(sender, queued);
    await sendMarker(sender, queued);
    return { version: { changed: undefined }, bytes: 0 };
  }
}

/** A removal follows, where a rule replicates it. */
function isGone({ code }: S3Error): boolean {
  return code === 'NoSuchKey' || code === 'NoSuchVersion' || code === 'NoSuchBucket';
}

/** The lock of a version in an entry of the queue. */
type QueuedLock = Pick<QueuedReplication, 'legalHold' | 'legalHoldChanged' | 'retention' | 'retentionChanged'>;

/** Older entries do not have the time of a retention. */
function changedLock({ legalHold, retentionChanged }: QueuedLock): boolean {
  return legalHold === false || retentionChanged !== undefined;
}

/**
 * Gives a version of the target the lock that it had here before its removal: what ended here must not keep it there. It copies the version of
 * the target onto itself: as a change of a client, it would be replicated back.
 */
async function endLock(
  { client, target }: Sender,
  { key, versionId, modified, legalHold, legalHoldChanged, retention, retentionChanged }: QueuedReplication,
): Promise<void> {
  const id = sourceVersionId(versionId);
  const query = { versionId: id };
  const headers = await headersThere(client, key, versionId);
  if (headers === undefined) return;
  // Of a replica a retention that has ended is kept too.
  const { lock, ...attributes } = attributesOf(headers, new Date(0));
  refuseAllHidden({ lock, ...attributes });
  const tags = attributes.tags === 0 ? {} : await tagsOf(client, key, id);
  const tagging = taggingOf({ tags });
  const last = retention && { mode: retention.mode, until: new Date(retention.until).toISOString() };
  const kept = retentionChanged === undefined ? lock.retention : last;
  const answer = await client.send({
    method: 'PUT',
    key,
    query,
    headers: {
      ...replacingHeaders({ ...attributes, lock: kept === undefined ? {} : { retention: kept } }, { encryption: {} }),
      ...replicationRequest,
      'x-minio-source-mtime': new Date(modified ?? String(headers['last-modified'])).toISOString(),
      ...(legalHold === false && { 'x-amz-object-lock-legal-hold': 'OFF' }),
      ...(legalHold === false &&
        legalHoldChanged !== undefined && {
          'x-minio-source-replication-legalhold-timestamp': writeInstant(legalHoldChanged),
        }),
      ...(retentionChanged !== undefined && {
        'x-minio-source-replication-retention-timestamp': writeInstant(retentionChanged),
      }),
      'x-amz-copy-source': copySource(target, key, id),
      'x-amz-tagging-directive': 'REPLACE',
      ...(tagging !== undefined && { 'x-amz-tagging': tagging }),
    },
  });
  // Another null version is there.
  if (!isAbsentThere(answer)) checkAnswer(answer, `end the lock of version ${versionId} of ${key}`);
}

function copySource({ targetBucket }: Pick<RemoteTarget, 'targetBucket'>, key: string, id: string): string {
  return `${percentEncodePath(`/${targetBucket}/${key}`)}?versionId=${id}`;
}

async function sendRemoval(
  { client }: Sender,
  { key, versionId, modified, bypassedGovernance }: QueuedReplication,
): Promise<void> {
  // A MinIO, and a Coffer of the release before, would remove it.
  if (modified !== undefined && (await isOtherThere({ client }, { key, versionId, modified }))) return;
  const answer = await client.send({
    method: 'DELETE',
    key,
    query: { versionId: sourceVersionId(versionId) },
    // A lock that the target alone has stays.
    headers: {
      ...replicationRequest,
      ...(bypassedGovernance === true && { 'x-amz-bypass-governance-retention': 'true' }),
      // Another null version stays too. In the second header a MinIO has the time of the removal.
      ...(modified !== undefined && {
        [removedVersionTime]: new Date(modified).toISOString(),
        'x-minio-source-mtime': new Date(modified).toISOString(),
      }),
    },
  });
  if (!isAbsentThere(answer)) checkAnswer(answer, `remove version ${versionId} of ${key}`);
}

/** The id of an own delete marker begins with its time, which older entries of a queue do not have. */
export async function sendMarker(
  { client }: Pick<Sender, 'client'>,
  { key, versionId, modified: made }: Pick<QueuedReplication, 'key' | 'versionId' | 'modified'>,
): Promise<void> {
  const modified = new Date(made ?? Number.parseInt(versionId.slice(0, 12), 16));
  const answer = await client.send({
    method: 'DELETE',
    key,
    query: { versionId: sourceVersionId(versionId) },
    headers: {
      ...replicationRequest,
      'x-minio-source-deletemarker': 'true',
      'x-minio-source-mtime': modified.toISOString(),
    },
  });
  checkAnswer(answer, `add the delete marker ${versionId} of ${key}`);
}

/** Adds when its lock changed to a version whose record does not say that: one of format 3. A later change has an entry of its own. */
function withTimesOf(
  info: ObjectInfo,
  { legalHold, legalHoldChanged = 0, retention, retentionChanged = 0 }: QueuedLock,
): ObjectInfo {
  const { lock = {}, changes = {}, lastModified } = info;
  const latest = (known: Instant = lastModified.getTime(), ofQueue: Instant) =>
    compareInstants(known, ofQueue) < 0 ? ofQueue : known;
  const isHold = lock.legalHold === legalHold;
  const isRetention = lock.retention?.mode === retention?.mode && lock.retention?.until.getTime() === retention?.until;
  return {
    ...info,
    changes: {
      ...changes,
      ...(isHold && { legalHold: latest(changes.legalHold, legalHoldChanged) }),
      ...(isRetention && { retention: latest(changes.retention, retentionChanged) }),
    },
  };
}

/**
 * Refuses to call a lock replicated that is still in force at the target and not here, where an older server has queued the change, and not said
 * when the lock ended. A lock that the target does not show is not compared.
 */
async function checkLock(
  { client }: Sender,
  { lock = {} }: ObjectInfo,
  { kind, key, versionId, modified }: QueuedReplication,
): Promise<void> {
  if (kind !== 'attributes' || modified !== undefined) return;
  const headers = await headersThere(client, key, versionId);
  if (headers === undefined) return;
  const there = attributesOf(headers, new Date()).lock;
  const what =
    there.legalHold === true && lock.legalHold !== true
      ? 'a legal hold'
      : there.retention !== undefined && Date.parse(there.retention.until) > (lock.retention?.until.getTime() ?? 0)
        ? `a retention until ${there.retention.until}`
        : undefined;
  if (what === undefined) return;
  throw new DeliveryError(
    'rejected',
    `version ${versionId} of ${key} has ${what} at the target, and not here: an older server queued the change without its time; end the lock at the target, if it shall end`,
  );
}

/**
 * Returns the headers of a version at the target; undefined where the target has no such version, or a delete marker.
 *
 * @throws DeliveryError where it did not answer that
 */
async function headersThere(
  client: Sender['client'],
  key: string,
  versionId: string,
): Promise<TargetAnswer['headers'] | undefined> {
  const answer = await client.send({ method: 'HEAD', key, query: { versionId: sourceVersionId(versionId) } });
  if (isAbsentThere(answer) || (answer.status === 405 && isMarkedAsS3(answer.headers))) return undefined;
  checkAnswer(answer, `look for version ${versionId} of ${key} at the target`);
  return answer.headers;
}

/** Returns false where the target has no such version. */
async function sendAttributes(sender: Sender, info: ObjectInfo, versionId: string): Promise<boolean> {
  const { client, target } = sender;
  const { key } = info;
  const id = sourceVersionId(versionId);
  const source = copySource(target, key, id);
  const answer = await client.send({
    method: 'PUT',
    key,
    query: { versionId: id },
    headers: attributeHeaders(info, storageClassOf(sender, info), source),
  });
  if (isAbsentThere(answer)) return false;
  checkAnswer(answer, `change the attributes of version ${versionId} of ${key}`);
  return true;
}

/**
 * Sends a version as it is now, for a batch job, which has no state of replication. Rejects with `DeliveryError`, and the errors of the object
 * layer.
 */
export async function sendCopy(
  sender: Sender,
  {
    bucket,
    key,
    versionId,
    onlyId,
  }: Pick<QueuedReplication, 'bucket' | 'key' | 'versionId'> & { readonly onlyId: string | undefined },
  form: SentForm,
): Promise<void> {
  await sendBody(sender, await sender.objects.getObject(bucket, key, { versionId, onlyId }), versionId, form);
}

async function sendWhole(sender: Sender, { bucket, key, versionId }: QueuedReplication): Promise<Sent> {
  const object = await sender.objects.getObject(bucket, key, { versionId });
  const { info } = object;
  // The server ended between the delivery and the removal from the queue. The other side may have removed the version since.
  if (info.replication?.waiting?.includes(sender.targetId) !== true) return { bytes: 0 };
  if (info.size >= askFirstBytes && (await isThere(sender, info, versionId))) {
    if (await sendAttributes(sender, info, versionId)) return { version: changeOf(info), bytes: 0 };
  }
  await sendBody(sender, object, versionId);
  // A target that had the version already has kept its own attributes: the server ended before the commit of an earlier delivery.
  if (info.replication.changed !== undefined) await sendAttributes(sender, info, versionId);
  return { version: changeOf(info), bytes: info.size };
}
