import { readInitiatedUpload } from '../../protocol/s3/responses.ts';
import { createHash } from 'node:crypto';
import { keptChunks } from '../streams/chunks.ts';
import type { ReplicationConfiguration } from '../../protocol/s3/bucket-replication.ts';
import type { ObjectInfo, ObjectLayer, ObjectPart, ReadableObject } from '../objects/contract/object-layer.ts';
import { storageClassAt } from '../objects/replication/replication-targets.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import type { Bandwidth } from './bandwidth.ts';
import type { RemoteTarget } from '../../protocol/admin/remote-target.ts';
import {
  bodyDigests,
  checksumHeader,
  completeDocument,
  copyHeaders,
  type SentPart,
  sourceVersionId,
  uploadChecksumHeaders,
  versionHeaders,
} from './replica-request.ts';
import { plainHeaders } from './plain-s3/plain-headers.ts';
import { isThere } from './body-there.ts';
import { checkAnswer, checkStored, type TargetClient, type TargetRequest } from './target-client.ts';

export interface Sender {
  readonly objects: Pick<ObjectLayer, 'getObject' | 'headObject'>;
  readonly client: Pick<TargetClient, 'send'>;
  /** The id of the target. */
  readonly targetId: string;
  readonly target: Pick<RemoteTarget, 'targetBucket' | 'storageClass' | 'kind'>;
  readonly bandwidth: Bandwidth;
  /** The rules of the bucket, which name the storage class of copies. */
  readonly rules?: ReplicationConfiguration | undefined;
}

/** The result of a delivery. */
export interface Sent {
  /** Undefined where the version is gone, and for a removal: there is no state to set. */
  readonly version?: {
    readonly changed: number | undefined;
    /** The target got the version once, and has removed it: it is not sent again. */
    readonly isRemoved?: true;
  };
  /** Plaintext bytes. */
  readonly bytes: number;
}

/** How a version is written at the other side. */
export interface SentForm {
  readonly targetKey: string;
  /**
   * `replica` keeps the id, the time and the ETag of the version. `copy` is a new version there. `plain` is one too, with its lock, as an S3
   * server without the extensions of MinIO takes it.
   */
  readonly kind: 'replica' | 'copy' | 'plain';
}

const partsPerPage = 1_000;

/** Sends the body of a version with its properties. Rejects with `DeliveryError`, and the errors of the object layer. */
export async function sendBody(
  sender: Sender,
  object: ReadableObject,
  versionId: string,
  form: SentForm = { targetKey: object.info.key, kind: 'replica' },
): Promise<void> {
  if (object.info.encryption?.scheme === 'SSE-C') throw customerKey();
  if (object.info.parts === undefined) await sendInOne(sender, object, versionId, form);
  else await sendInParts(sender, object.info, versionId, form);
}

function customerKey(): DeliveryError {
  return new DeliveryError(
    'impossible',
    'an object under the key of a client (SSE-C) cannot be replicated: only the client has the key',
  );
}

/** Returns the storage class of a copy: that of the rule, or else that of the target. */
export function storageClassOf({ target, rules, targetId }: Sender, info: ObjectInfo): string | undefined {
  return storageClassAt(rules, info, targetId) ?? target.storageClass;
}

function headersOf(sender: Sender, info: ObjectInfo, kind: SentForm['kind']): Record<string, string> {
  const storageClass = storageClassOf(sender, info);
  switch (kind) {
    case 'replica':
      return versionHeaders(info, storageClass);
    case 'copy':
      return copyHeaders(info, storageClass);
    case 'plain':
      return plainHeaders(info, storageClass);
    default:
      return kind satisfies never;
  }
}

async function sendInOne(
  sender: Sender,
  { info, read }: ReadableObject,
  versionId: string,
  { targetKey: key, kind }: SentForm,
): Promise<void> {
  const range = { start: 0, end: info.size };
  const digests = bodyDigests(info);
  const answer = await sender.client.send({
    method: 'PUT',
    key,
    query: kind === 'replica' ? { versionId: sourceVersionId(versionId) } : {},
    headers: {
      ...headersOf(sender, info, kind),
      ...digests,
      ...(await missingDigest(kind, digests, () => read(range))),
    },
    body: await bodyOf(sender, read(range), info.size),
  });
  checkStored(answer, `put version ${versionId} of ${key}`);
}

type Read = ReturnType<ReadableObject['read']>;

async function bodyOf({ bandwidth }: Sender, bytes: Read, size: number): Promise<TargetRequest['body']> {
  if (Buffer.isBuffer(bytes)) return bandwidth.whole(bytes);
  return { size, chunks: bandwidth.paced(keptChunks(bytes)) };
}

/** AWS takes no body into a bucket with object lock without a digest. A body without a known one is read twice. */
async function missingDigest(
  kind: SentForm['kind'],
  digests: Readonly<Record<string, string>>,
  read: () => Read,
): Promise<Record<string, string>> {
  if (kind === 'replica' || Object.keys(digests).length > 0) return {};
  const hash = createHash('md5');
  const bytes = read();
  if (Buffer.isBuffer(bytes)) hash.update(bytes);
  else for await (const chunk of keptChunks(bytes)) hash.update(chunk);
  return { 'content-md5': hash.digest('base64') };
}

/** The parts of the upload are those of the version, so that its ETag and its checksum are the same. */
async function sendInParts(sender: Sender, info: ObjectInfo, versionId: string, form: SentForm): Promise<void> {
  const { client } = sender;
  const { targetKey: key, kind } = form;
  const isReplica = kind === 'replica';
  const begun = await client.send({
    method: 'POST',
    key,
    query: { uploads: '', ...(isReplica && { versionId: sourceVersionId(versionId) }) },
    headers: { ...headersOf(sender, info, kind), ...uploadChecksumHeaders(info.checksum) },
  });
  checkAnswer(begun, `begin the upload of version ${versionId} of ${key}`);
  const uploadId = uploadIdOf(begun.text, key);
  try {
    const parts: SentPart[] = [];
    for await (const part of partsOf(sender, info, versionId)) {
      parts.push(await sendPart(sender, info, { part, uploadId, versionId, ...form }));
    }
    const answer = await client.send({
      method: 'POST',
      key,
      query: { uploadId },
      headers: isReplica
        ? {
            'x-minio-source-replication-request': 'true',
            'x-minio-source-mtime': info.lastModified.toISOString(),
            'x-minio-source-etag': info.etag,
          }
        : {},
      body: completeDocument(parts),
    });
    checkStored(answer, `complete version ${versionId} of ${key}`);
  } catch (error) {
    // Another server has sent the version meanwhile, and its arrival ended this upload.
    if (isReplica && saysGone(error) && (await isThere(sender, { key, etag: info.etag }, versionId))) return;
    await client.send({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

function saysGone(error: unknown): boolean {
  return error instanceof DeliveryError && error.code === 'rejected' && error.status === 404;
}

function uploadIdOf(text: string, key: string): string {
  try {
    return readInitiatedUpload(text);
  } catch (error) {
    throw new DeliveryError('unavailable', `the other server began the upload of ${key} and named no id`, {
      cause: error,
    });
  }
}

async function sendPart(
  sender: Sender,
  { bucket, key }: ObjectInfo,
  {
    part,
    uploadId,
    versionId,
    targetKey,
    kind,
  }: SentForm & { readonly part: ObjectPart; readonly uploadId: string; readonly versionId: string },
): Promise<SentPart> {
  const { number, start, size, checksum } = part;
  const { read } = await sender.objects.getObject(bucket, key, { versionId });
  const range = { start, end: start + size };
  const digests = checksum === undefined ? {} : checksumHeader(checksum);
  const answer = await sender.client.send({
    method: 'PUT',
    key: targetKey,
    query: { partNumber: String(number), uploadId },
    headers: {
      ...(kind === 'replica' && { 'x-minio-source-replication-request': 'true' }),
      ...digests,
      ...(await missingDigest(kind, digests, () => read(range))),
    },
    body: await bodyOf(sender, read(range), size),
  });
  checkStored(answer, `put part ${number} of version ${versionId} of ${key}`);
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
