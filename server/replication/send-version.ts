import { keptPieces } from '../../platform/pieces.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { percentEncodePath } from '../../protocol/sigv4/signature.ts';
import type { ObjectInfo, ObjectLayer, ObjectPart, ReadableObject } from '../objects/object-layer.ts';
import type { QueuedReplication } from '../objects/replication/queue-replication.ts';
import type { Bandwidth } from './bandwidth.ts';
import type { RemoteTarget } from './remote-targets.ts';
import {
  attributeHeaders,
  bodyDigests,
  checksumHeader,
  completeDocument,
  copyHeaders,
  replicationRequest,
  type SentPart,
  sourceVersionId,
  uploadChecksumHeaders,
  versionHeaders,
} from './replica-request.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import { checkAnswer, type TargetClient } from './target-client.ts';

interface Sender {
  readonly objects: Pick<ObjectLayer, 'getObject' | 'headObject'>;
  readonly client: Pick<TargetClient, 'send'>;
  /** The id of the target. */
  readonly targetId: string;
  readonly target: Pick<RemoteTarget, 'targetBucket' | 'storageClass'>;
  readonly bandwidth: Bandwidth;
}

/** The result of a delivery. */
export interface Sent {
  /** Undefined where the version is gone, and for a removal: there is no state to set. */
  readonly version?: { readonly changed: number | undefined };
  /** Plaintext bytes. */
  readonly bytes: number;
}

/** Bodies from this size on are sent only where the target has not got the version already. */
const askFirstBytes = 8 * 1024 * 1024;
const partsPerPage = 1_000;

/** Sends a queued change to a target. Rejects with `DeliveryError`, and the errors of the object layer. */
export async function sendVersion(sender: Sender, queued: QueuedReplication): Promise<Sent> {
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
  const { status, headers } = await client.send({ method: 'HEAD', key, query: { versionId: id } });
  if (status !== 200) return;
  const kept =
    /^(?:content-(?:type|encoding|disposition|language)|cache-control|expires|x-amz-meta-.*|x-amz-object-lock-(?!legal-hold).*)$/;
  const answer = await client.send({
    method: 'PUT',
    key,
    query: { versionId: id },
    headers: {
      ...Object.fromEntries(
        Object.entries(headers).filter(
          (one): one is [string, string] => kept.test(one[0]) && typeof one[1] === 'string',
        ),
      ),
      ...replicationRequest,
      'x-minio-source-mtime': new Date(String(headers['last-modified'])).toISOString(),
      'x-amz-object-lock-legal-hold': 'OFF',
      'x-minio-source-replication-legalhold-timestamp': new Date().toISOString(),
      'x-amz-copy-source': copySource(target, key, id),
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-tagging-directive': 'REPLACE',
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
  if (answer.status !== 404) checkAnswer(answer, `remove version ${versionId} of ${key}`);
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
async function sendAttributes({ client, target }: Sender, info: ObjectInfo, versionId: string): Promise<boolean> {
  const { key } = info;
  const id = sourceVersionId(versionId);
  const source = copySource(target, key, id);
  const answer = await client.send({
    method: 'PUT',
    key,
    query: { versionId: id },
    headers: attributeHeaders(info, target.storageClass, source),
  });
  if (answer.status === 404) return false;
  checkAnswer(answer, `change the attributes of version ${versionId} of ${key}`);
  return true;
}

/** The copy of a version for a batch job, which has no state of replication. */
interface CopyOptions {
  readonly targetKey: string;
  /** The other side keeps the id, the time and the ETag. Otherwise it is a new version there. */
  readonly keepsId: boolean;
}

/** Sends a version as it is now. Rejects with `DeliveryError`, and the errors of the object layer. */
export async function sendCopy(
  sender: Sender,
  { bucket, key, versionId }: Pick<QueuedReplication, 'bucket' | 'key' | 'versionId'>,
  options: CopyOptions,
): Promise<void> {
  const object = await sender.objects.getObject(bucket, key, { versionId });
  if (object.info.encryption?.scheme === 'SSE-C') throw customerKey();
  if (object.info.parts === undefined) await sendInOne(sender, object, versionId, options);
  else await sendInParts(sender, object.info, versionId, options);
}

function customerKey(): DeliveryError {
  return new DeliveryError(
    'impossible',
    'an object under the key of a client (SSE-C) cannot be replicated: only the client has the key',
  );
}

async function sendWhole(sender: Sender, { bucket, key, versionId }: QueuedReplication): Promise<Sent> {
  const object = await sender.objects.getObject(bucket, key, { versionId });
  const { info } = object;
  // The server ended between the delivery and the removal from the queue. The other side may have removed the version since.
  if (info.replication?.waiting?.includes(sender.targetId) !== true) return { bytes: 0 };
  if (info.encryption?.scheme === 'SSE-C') throw customerKey();
  if (info.size >= askFirstBytes && (await isThere(sender, info, versionId))) {
    if (await sendAttributes(sender, info, versionId)) return { version: changeOf(info), bytes: 0 };
  }
  if (info.parts === undefined) await sendInOne(sender, object, versionId);
  else await sendInParts(sender, info, versionId);
  return { version: changeOf(info), bytes: info.size };
}

async function isThere({ client }: Sender, { key, etag }: ObjectInfo, versionId: string): Promise<boolean> {
  const answer = await client.send({ method: 'HEAD', key, query: { versionId: sourceVersionId(versionId) } });
  return answer.status === 200 && answer.headers['etag'] === `"${etag}"`;
}

async function sendInOne(
  { client, target, bandwidth }: Sender,
  { info, read }: ReadableObject,
  versionId: string,
  { targetKey: key, keepsId }: CopyOptions = { targetKey: info.key, keepsId: true },
): Promise<void> {
  const { size } = info;
  const bytes = read({ start: 0, end: size });
  const headers = keepsId ? versionHeaders(info, target.storageClass) : copyHeaders(info, target.storageClass);
  const answer = await client.send({
    method: 'PUT',
    key,
    query: keepsId ? { versionId: sourceVersionId(versionId) } : {},
    headers: { ...headers, ...bodyDigests(info) },
    body: Buffer.isBuffer(bytes) ? await bandwidth.whole(bytes) : { size, chunks: bandwidth.paced(keptPieces(bytes)) },
  });
  checkAnswer(answer, `put version ${versionId} of ${key}`);
}

/** The parts of the upload are those of the version, so that its ETag and its checksum are the same. */
async function sendInParts(
  sender: Sender,
  info: ObjectInfo,
  versionId: string,
  { targetKey: key, keepsId }: CopyOptions = { targetKey: info.key, keepsId: true },
): Promise<void> {
  const { client, target } = sender;
  const { checksum } = info;
  const headers = keepsId ? versionHeaders(info, target.storageClass) : copyHeaders(info, target.storageClass);
  const begun = await client.send({
    method: 'POST',
    key,
    query: { uploads: '', ...(keepsId && { versionId: sourceVersionId(versionId) }) },
    headers: { ...headers, ...uploadChecksumHeaders(checksum) },
  });
  checkAnswer(begun, `begin the upload of version ${versionId} of ${key}`);
  const uploadId = /<UploadId>([^<]+)<\/UploadId>/.exec(begun.text)?.[1] ?? '';
  try {
    const parts: SentPart[] = [];
    for await (const part of partsOf(sender, info, versionId)) {
      parts.push(await sendPart(sender, info, { part, uploadId, versionId, targetKey: key, keepsId }));
    }
    const answer = await client.send({
      method: 'POST',
      key,
      query: { uploadId },
      headers: keepsId
        ? {
            'x-minio-source-replication-request': 'true',
            'x-minio-source-mtime': info.lastModified.toISOString(),
            'x-minio-source-etag': info.etag,
          }
        : {},
      body: completeDocument(parts),
    });
    checkAnswer(answer, `complete version ${versionId} of ${key}`);
  } catch (error) {
    await client.send({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

async function sendPart(
  { objects, client, bandwidth }: Sender,
  { bucket, key }: ObjectInfo,
  {
    part,
    uploadId,
    versionId,
    targetKey,
    keepsId,
  }: CopyOptions & { readonly part: ObjectPart; readonly uploadId: string; readonly versionId: string },
): Promise<SentPart> {
  const { number, start, size, checksum } = part;
  const { read } = await objects.getObject(bucket, key, { versionId });
  const bytes = read({ start, end: start + size });
  const answer = await client.send({
    method: 'PUT',
    key: targetKey,
    query: { partNumber: String(number), uploadId },
    headers: {
      ...(keepsId && { 'x-minio-source-replication-request': 'true' }),
      ...(checksum && checksumHeader(checksum)),
    },
    body: Buffer.isBuffer(bytes) ? await bandwidth.whole(bytes) : { size, chunks: bandwidth.paced(keptPieces(bytes)) },
  });
  checkAnswer(answer, `put part ${number} of version ${versionId} of ${key}`);
  return { number, checksum, etag: String(answer.headers['etag'] ?? '') };
}

async function* partsOf(
  { objects }: Sender,
  { bucket, key }: ObjectInfo,
  versionId: string,
): AsyncGenerator<ObjectPart> {
  for (let after = 0; ;) {
    const info = await objects.headObject(bucket, key, { versionId, parts: { after, limit: partsPerPage } });
    const page = info.partPage ?? [];
    yield* page;
    after = page.at(-1)?.number ?? 0;
    if (page.length < partsPerPage) return;
  }
}
