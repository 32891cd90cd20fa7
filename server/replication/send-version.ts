import { S3Error } from '../../protocol/s3/s3-error.ts';
import { attributesOf } from '../../protocol/s3/copies/copied-attributes.ts';
import { refuseAllHidden, replacingHeaders } from '../../protocol/s3/copies/copy-headers.ts';
import { percentEncodePath } from '../../protocol/sigv4/signature.ts';
import type { ObjectInfo } from '../objects/object-layer.ts';
import type { QueuedReplication } from '../objects/replication/queue-replication.ts';
import type { RemoteTarget } from './remote-targets.ts';
import { attributeHeaders, replicationRequest, sourceVersionId } from './replica-request.ts';
import { taggingOf } from './attributes-of-info.ts';
import { tagsOf } from './remote-tags.ts';
import { sendPlainVersion } from './plain-s3/send-plain-version.ts';
import { sendBody, type Sender, type Sent, type SentForm, storageClassOf } from './send-body.ts';
import { checkAnswer, isAbsentThere } from './target-client.ts';

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
    if (queued.kind === 'version') return await sendWhole(sender, queued);
    const { bucket, key, versionId } = queued;
    const info = await sender.objects.headObject(bucket, key, { versionId });
    if (await sendAttributes(sender, info, versionId)) return { version: changeOf(info), bytes: 0 };
    // The other side removed the version after it got it: it must not come back.
    return info.replication?.status === 'FAILED'
      ? await sendWhole(sender, queued)
      : { version: changeOf(info), bytes: 0 };
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    if (isGone(error)) {
      if (queued.legalHold === false) await releaseHold(sender, queued);
      return { bytes: 0 };
    }
    if (error.code !== 'MethodNotAllowed') throw error;
    await sendMarker(sender, queued);
    return { version: { changed: undefined }, bytes: 0 };
  }
}

/** A removal follows, where a rule replicates it. */
function isGone({ code }: S3Error): boolean {
  return code === 'NoSuchKey' || code === 'NoSuchVersion' || code === 'NoSuchBucket';
}

/**
 * Releases the legal hold of a version that is removed here. It copies the version of the target onto itself: as a change of a client, it
 * would be replicated back.
 */
async function releaseHold({ client, target }: Sender, { key, versionId }: QueuedReplication): Promise<void> {
  const id = sourceVersionId(versionId);
  const query = { versionId: id };
  const { status, headers } = await client.send({ method: 'HEAD', key, query });
  if (status !== 200) return;
  // Of a replica a retention that has ended is kept too.
  const { lock, ...attributes } = attributesOf(headers, new Date(0));
  refuseAllHidden({ lock, ...attributes });
  const tags = attributes.tags === 0 ? {} : await tagsOf(client, key, id);
  const tagging = taggingOf({ tags });
  const kept = { ...attributes, lock: { ...(lock.retention && { retention: lock.retention }) } };
  const answer = await client.send({
    method: 'PUT',
    key,
    query,
    headers: {
      ...replacingHeaders(kept, { encryption: {} }),
      ...replicationRequest,
      'x-minio-source-mtime': new Date(String(headers['last-modified'])).toISOString(),
      'x-amz-object-lock-legal-hold': 'OFF',
      'x-minio-source-replication-legalhold-timestamp': new Date().toISOString(),
      'x-amz-copy-source': copySource(target, key, id),
      'x-amz-tagging-directive': 'REPLACE',
      ...(tagging !== undefined && { 'x-amz-tagging': tagging }),
    },
  });
  checkAnswer(answer, `release the legal hold of version ${versionId} of ${key}`);
}

function copySource({ targetBucket }: Pick<RemoteTarget, 'targetBucket'>, key: string, id: string): string {
  return `${percentEncodePath(`/${targetBucket}/${key}`)}?versionId=${id}`;
}

function changeOf({ replication }: ObjectInfo): NonNullable<Sent['version']> {
  return { changed: replication?.changed };
}

async function sendRemoval({ client }: Sender, { key, versionId }: QueuedReplication): Promise<void> {
  const answer = await client.send({
    method: 'DELETE',
    key,
    query: { versionId: sourceVersionId(versionId) },
    // The source has bypassed GOVERNANCE, or the retention is over. COMPLIANCE holds on both sides.
    headers: { ...replicationRequest, 'x-amz-bypass-governance-retention': 'true' },
  });
  if (!isAbsentThere(answer)) checkAnswer(answer, `remove version ${versionId} of ${key}`);
}

/** The id of a delete marker begins with its time. */
export async function sendMarker(
  { client }: Pick<Sender, 'client'>,
  { key, versionId }: Pick<QueuedReplication, 'key' | 'versionId'>,
): Promise<void> {
  const modified = new Date(Number.parseInt(versionId.slice(0, 12), 16));
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
  return { version: changeOf(info), bytes: info.size };
}

async function isThere({ client }: Sender, { key, etag }: ObjectInfo, versionId: string): Promise<boolean> {
  const answer = await client.send({ method: 'HEAD', key, query: { versionId: sourceVersionId(versionId) } });
  return answer.status === 200 && answer.headers['etag'] === `"${etag}"`;
}
