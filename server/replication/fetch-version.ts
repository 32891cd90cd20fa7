import { z } from 'zod';
import { nameRecord } from '../../protocol/json/name-record.ts';
import { ResponseError } from '../../protocol/response-error.ts';
import { checksumAlgorithms } from '../../protocol/s3/checksum-algorithms.ts';
import { attributesOf, type CopiedAttributes, contentHeaderNames } from '../../protocol/s3/copies/copied-attributes.ts';
import { refuseAllHidden } from '../../protocol/s3/copies/copy-headers.ts';
import { decodeWords } from '../../protocol/s3/encoded-words.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BatchVersion, Transfer } from '../maintenance/batch/batch-remote.ts';
import { bodyFrom } from '../objects/contract/body-source.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import { tagsOf } from './remote-tags.ts';
import type {
  ObjectHeaders,
  ObjectInfo,
  ObjectLayer,
  ObjectLock,
  RequestedEncryption,
} from '../objects/contract/object-layer.ts';
import { isSameContent } from './same-content.ts';
import { checkAnswer, isAbsentThere, type TargetClient } from './target-client.ts';

interface Fetcher {
  readonly objects: Pick<ObjectLayer, 'headObject' | 'putObject' | 'deleteObject' | 'getBucketEncryption'>;
  readonly client: Pick<TargetClient, 'send' | 'open'>;
  /** The bucket of this server. */
  readonly bucket: string;
}

interface FetchedVersion extends BatchVersion {
  readonly targetKey: string;
  /** The id that the version keeps. Without it, it is a new version here. */
  readonly keptId?: string;
}

/** Copies a version of another server to this one, unless it is here. */
export async function fetchVersion(fetcher: Fetcher, version: FetchedVersion): Promise<Transfer> {
  const { objects, bucket } = fetcher;
  const { targetKey, keptId, deleteMarker } = version;
  const here = await readHere(objects, bucket, version);
  if (deleteMarker) {
    // A marker without its id would come again with each repetition.
    if (keptId === undefined || here === 'marker') return 'same';
    const marker = { versionId: keptId, modified: new Date(version.modified) };
    await objects.deleteObject(bucket, targetKey, { replica: { marker } });
    return 'changed';
  }
  const own = typeof here === 'object' ? here : undefined;
  if (own !== undefined && (keptId !== undefined || isSameContent(ofSource(version, false), ofInfo(own))))
    return 'same';
  return copyVersion(fetcher, version, own);
}

/** Reads what this server has in the place of the version. */
async function readHere(
  objects: Fetcher['objects'],
  bucket: string,
  { targetKey, keptId }: FetchedVersion,
): Promise<ObjectInfo | 'marker' | undefined> {
  try {
    return await objects.headObject(bucket, targetKey, keptId === undefined ? {} : { versionId: keptId });
  } catch (error) {
    if (!(error instanceof S3Error) || error.status >= 500) throw error;
    return error.code === 'MethodNotAllowed' ? 'marker' : undefined;
  }
}

function ofSource({ etag, size, modified }: BatchVersion, hasRandomEtag: boolean) {
  return { etag, size, modified, hasRandomEtag };
}

function ofInfo({ etag, size, lastModified, encryption }: ObjectInfo) {
  return { etag, size, modified: lastModified.getTime(), hasRandomEtag: encryption?.scheme === 'SSE-KMS' };
}

async function copyVersion(fetcher: Fetcher, version: FetchedVersion, own: ObjectInfo | undefined): Promise<Transfer> {
  const { objects, client, bucket } = fetcher;
  const { key, versionId, targetKey, keptId, modified, etag } = version;
  const query: Record<string, string> = versionId === 'null' ? {} : { versionId };
  const answer = await client.open({ method: 'GET', key, query, headers: { 'x-amz-checksum-mode': 'ENABLED' } });
  if (answer.status !== 200) {
    const refusal = await answer.whole();
    // It was removed meanwhile.
    if (isAbsentThere(refusal)) return 'same';
    checkAnswer(refusal, `read version ${versionId} of ${key}`);
  }
  const header = (name: string) => {
    const value = answer.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  try {
    // Only the answer shows that the ETag of the source is random.
    const hasRandomEtag = header('x-amz-server-side-encryption') === 'aws:kms';
    if (own !== undefined && isSameContent(ofSource(version, hasRandomEtag), ofInfo(own))) return 'same';
    // A version that keeps its id keeps its lock as it was set.
    const attributes = attributesOf(answer.headers, keptId === undefined ? new Date() : new Date(0));
    refuseLoss(attributes, version);
    const encryption = await encryptionHere(fetcher, attributes);
    const tags = attributes.tags === 0 ? undefined : await tagsOf(client, key, versionId);
    const lock = lockOf(attributes);
    const { checksum } = attributes;
    const algorithm = checksumAlgorithms.find((one) => one === checksum?.algorithm);
    await objects.putObject({
      bucket,
      key: targetKey,
      body: bodyFrom(answer.chunks),
      size: Number(header('content-length') ?? version.size),
      digests: {
        ...(/^[0-9a-f]{32}$/.test(etag) &&
          attributes.encryption === undefined && { md5: Buffer.from(etag, 'hex').toString('base64') }),
        ...(algorithm !== undefined &&
          (checksum?.type === 'FULL_OBJECT'
            ? { checksum: { algorithm, value: checksum.value } }
            : { compute: algorithm })),
      },
      headers: headersOf(attributes),
      ...(encryption && { encryption }),
      ...(tags && { tags }),
      ...(lock && { lock }),
      ...(keptId !== undefined && { replica: { versionId: keptId, modified: new Date(modified), etag } }),
    });
    return 'changed';
  } finally {
    await answer.discard();
  }
}

/** The copy would lack what the other server does not show. */
function refuseLoss(attributes: CopiedAttributes, { key, versionId }: FetchedVersion): void {
  try {
    refuseAllHidden(attributes);
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    throw new DeliveryError('impossible', `version ${versionId} of ${key} cannot be copied: ${error.message}`, {
      cause: error,
    });
  }
}

/**
 * Returns the encryption of a version that is encrypted at its source. It is never weaker than that of the source: under a key of the key
 * service it stays so, with its context, and the default of the bucket decides of any other. Keys of the source have other names here.
 */
async function encryptionHere(
  { objects, bucket }: Pick<Fetcher, 'objects' | 'bucket'>,
  { encryption }: CopiedAttributes,
): Promise<RequestedEncryption | undefined> {
  if (encryption?.kind !== 'server') return undefined;
  const byDefault = await objects.getBucketEncryption(bucket);
  if (encryption.scheme === 'AES256') {
    return byDefault === undefined || byDefault.scheme === 'none' ? { scheme: 'SSE-S3' } : undefined;
  }
  const { context, bucketKey } = encryption;
  const keyName = byDefault?.scheme === 'SSE-KMS' ? byDefault.keyName : undefined;
  return {
    scheme: 'SSE-KMS',
    ...(keyName !== undefined && { keyName }),
    ...(context !== undefined && { context: contextOf(context) }),
    ...(bucketKey && { bucketKey }),
  };
}

const encryptionContext = nameRecord(z.string(), z.string());

/** @throws DeliveryError for what is no context */
function contextOf(text: string): Readonly<Record<string, string>> {
  try {
    return encryptionContext.parse(JSON.parse(Buffer.from(text, 'base64').toString()));
  } catch (error) {
    throw new DeliveryError('impossible', 'the other server answers an encryption context that is no map of texts', {
      cause: error,
    });
  }
}

function lockOf({ lock: { retention, legalHold } }: CopiedAttributes): ObjectLock | undefined {
  const mode = retention?.mode;
  const isKnown = mode === 'GOVERNANCE' || mode === 'COMPLIANCE';
  if (!isKnown && legalHold === undefined) return undefined;
  return {
    ...(isKnown && retention && { retention: { mode, until: new Date(retention.until) } }),
    ...(legalHold && { legalHold }),
  };
}

const contentFields = {
  'content-type': 'contentType',
  'content-encoding': 'contentEncoding',
  'content-disposition': 'contentDisposition',
  'content-language': 'contentLanguage',
  'cache-control': 'cacheControl',
  expires: 'expires',
} as const satisfies Record<(typeof contentHeaderNames)[number], keyof ObjectHeaders>;

/** Of the storage classes, this server has one beside the standard one. */
function headersOf({ content, metadata, websiteRedirect, storageClass }: CopiedAttributes): ObjectHeaders {
  const fields = contentHeaderNames.flatMap((name) => {
    const value = content[name];
    return value === undefined ? [] : [[contentFields[name], value]];
  });
  return {
    ...(Object.fromEntries(fields) as Omit<ObjectHeaders, 'metadata'>),
    ...(websiteRedirect !== undefined && { websiteRedirect }),
    ...(storageClass === 'REDUCED_REDUNDANCY' && { storageClass }),
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, decodeWords(value)])),
  };
}
