import { newObjectHeaders, replacingHeaders } from '../../protocol/s3/copies/copy-headers.ts';
import { attributesOfInfo, taggingOf } from './attributes-of-info.ts';
import { compareInstants, type Instant, writeInstant } from '../objects/contract/instant.ts';
import type { Checksum, ObjectInfo, ObjectPart } from '../objects/contract/object-layer.ts';

type Headers = Record<string, string>;

/** The headers by which MinIO and Coffer know a request of a server that replicates. */
export const replicationRequest: Readonly<Headers> = {
  'x-minio-source-replication-request': 'true',
  'x-amz-replication-status': 'REPLICA',
};

/**
 * Returns the headers that describe a version: its metadata, tags, lock and encryption, and the id, time and ETag that it keeps. The lock is
 * as it was set, also where its retention has ended.
 *
 * @see https://github.com/minio/minio/tree/master/docs/bucket/replication
 */
export function versionHeaders(info: ObjectInfo, storageClass: string | undefined): Headers {
  const attributes = attributesOfInfo(info, { storageClass, form: 'bytes', now: new Date() });
  return {
    ...newObjectHeaders(attributes, 'other', { tagging: taggingOf(info), withoutLock: true }),
    ...lockHeaders(info),
    ...sourceHeaders(info),
  };
}

/** Returns the headers of an equal copy for a server that keeps neither id nor time of the source. */
export function copyHeaders(info: ObjectInfo, storageClass: string | undefined, now = Date.now()): Headers {
  const attributes = attributesOfInfo(info, { storageClass, form: 'words', now: new Date(now) });
  return newObjectHeaders(attributes, 'other', { tagging: taggingOf(info) });
}

/** Returns the headers of a copy of a version onto itself, which changes its metadata, tags and lock. */
export function attributeHeaders(info: ObjectInfo, storageClass: string | undefined, source: string): Headers {
  const attributes = attributesOfInfo(info, { storageClass, form: 'bytes', now: new Date() });
  const tagging = taggingOf(info);
  return {
    ...replacingHeaders(attributes, { encryption: {}, withoutLock: true }),
    ...lockHeaders(info),
    ...sourceHeaders(info),
    'x-amz-copy-source': source,
    'x-amz-tagging-directive': 'REPLACE',
    ...(tagging !== undefined && { 'x-amz-tagging': tagging }),
  };
}

export function lockHeaders({ lock }: Pick<ObjectInfo, 'lock'>): Headers {
  return {
    ...(lock?.retention && {
      'x-amz-object-lock-mode': lock.retention.mode,
      'x-amz-object-lock-retain-until-date': lock.retention.until.toISOString(),
    }),
    ...(lock?.legalHold !== undefined && { 'x-amz-object-lock-legal-hold': lock.legalHold ? 'ON' : 'OFF' }),
  };
}

/** An attribute that is not set and never changed has no time: the target keeps its own. */
function sourceHeaders({ lastModified, etag, changes = {}, tags, lock }: ObjectInfo): Headers {
  const made = lastModified.getTime();
  const timeOf = (name: string, value: unknown, changed: Instant = made): Headers =>
    value === undefined && compareInstants(changed, made) <= 0 ? {} : { [name]: writeInstant(changed) };
  return {
    ...replicationRequest,
    'x-minio-source-mtime': lastModified.toISOString(),
    'x-minio-source-etag': etag,
    ...timeOf('x-minio-source-replication-tagging-timestamp', tags, changes.tags),
    ...timeOf('x-minio-source-replication-retention-timestamp', lock?.retention, changes.retention),
    ...timeOf('x-minio-source-replication-legalhold-timestamp', lock?.legalHold, changes.legalHold),
  };
}

/** Returns the digests of a body that is sent whole: the target verifies what arrives. */
export function bodyDigests({ etag, encryption, checksum }: ObjectInfo): Headers {
  const isMd5 = /^[0-9a-f]{32}$/.test(etag) && encryption?.scheme !== 'SSE-KMS' && encryption?.scheme !== 'SSE-C';
  return {
    ...(isMd5 && { 'content-md5': Buffer.from(etag, 'hex').toString('base64') }),
    ...(checksum?.type === 'FULL_OBJECT' && checksumHeader(checksum)),
  };
}

export function checksumHeader({ algorithm, value }: Pick<Checksum, 'algorithm' | 'value'>): Headers {
  return { [`x-amz-checksum-${algorithm.toLowerCase()}`]: value };
}

/** Returns the headers that say which checksums the parts of an upload have. */
export function uploadChecksumHeaders(checksum: Checksum | undefined): Headers {
  if (checksum === undefined) return {};
  return { 'x-amz-checksum-algorithm': checksum.algorithm, 'x-amz-checksum-type': checksum.type };
}

/** MinIO takes ids of versions as UUIDs, and Coffer takes both forms. */
export function sourceVersionId(versionId: string): string {
  return versionId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export type SentPart = Pick<ObjectPart, 'number' | 'checksum'> & { readonly etag: string };

/** Writes the document that completes an upload. */
export function completeDocument(parts: readonly SentPart[]): Buffer {
  const texts = parts.map(({ number, etag, checksum }) => {
    const name = checksum && `Checksum${checksum.algorithm}`;
    const value = checksum === undefined ? '' : `<${name}>${checksum.value}</${name}>`;
    return `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag>${value}</Part>`;
  });
  return Buffer.from(`<CompleteMultipartUpload>${texts.join('')}</CompleteMultipartUpload>`);
}
