import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context/context.ts';
import { getIntactObject } from './get-object.ts';
import type {
  ByteRange,
  CopiedVersion,
  CopyObject,
  CopySource,
  ObjectHeaders,
  ObjectInfo,
  ReadableObject,
} from '../contract/object-layer.ts';
import { putObject } from './put-object.ts';
import { resolveRange } from './byte-range.ts';
import { keptChunks } from '../../streams/chunks.ts';
import { bodyFrom } from '../contract/body-source.ts';

/**
 * Copies an object. The target is encrypted by its own rules, under a new key. Throws `InvalidRequest` for a copy onto itself that
 * changes nothing.
 */
export async function copyObject(context: ObjectContext, request: CopyObject): Promise<ObjectInfo & CopiedVersion> {
  const { source, bucket, key, headers, encryption, checksumAlgorithm } = request;
  const onItself = source.bucket === bucket && source.key === key && source.versionId === undefined;
  const { storageClass, websiteRedirect, tags } = request;
  const changes = [headers, storageClass, websiteRedirect, encryption, source.customerKey, checksumAlgorithm, tags];
  if (onItself && changes.every((change) => change === undefined)) {
    throw new S3Error('InvalidRequest', 'A copy of an object onto itself must change its metadata or its encryption.');
  }
  const { info, read } = await openSource(context, source);
  const compute = checksumAlgorithm ?? info.checksum?.algorithm ?? 'CRC64NVME';
  const written = await putObject(context, {
    bucket,
    key,
    body: bodyFrom(keptChunks(read({ start: 0, end: info.size }))),
    size: info.size,
    digests: { compute },
    headers: headers ?? { ...headersOf(info, storageClass), ...(websiteRedirect !== undefined && { websiteRedirect }) },
    encryption,
    conditions: request.conditions,
    tags: request.tags ?? info.tags,
    lock: request.lock,
    acl: request.acl,
    writer: request.writer,
    onlyId: request.onlyId,
    operation: 'Copy',
  });
  return { ...written, ...copiedVersion(info) };
}

export function copiedVersion({ versionId }: ObjectInfo): CopiedVersion {
  return versionId === undefined ? {} : { sourceVersionId: versionId };
}

/** Opens the source of a copy. Conditions that answer 304 to a GET answer 412 here, and a delete marker by its id is `InvalidRequest`. */
export async function openSource(context: ObjectContext, source: CopySource): Promise<ReadableObject> {
  try {
    return await getIntactObject(context, source.bucket, source.key, source);
  } catch (error) {
    if (error instanceof S3Error && (error.code === 'NotModified' || error.code === 'PreconditionFailed')) {
      const { ifNoneMatch } = source.conditions ?? {};
      const notModified = ifNoneMatch === undefined ? 'If-Modified-Since' : 'If-None-Match';
      const Condition = `x-amz-copy-source-${error.details['Condition'] ?? notModified}`;
      throw new S3Error('PreconditionFailed', undefined, { details: { Condition }, cause: error });
    }
    if (error instanceof S3Error && error.code === 'MethodNotAllowed') {
      throw new S3Error(
        'InvalidRequest',
        'The source of a copy request may not specifically refer to a delete marker by version id.',
        { cause: error },
      );
    }
    if (error instanceof S3Error && (error.code === 'NoSuchKey' || error.code === 'NoSuchVersion')) {
      await source.onAbsent?.(error);
    }
    throw error;
  }
}

/** Returns the bytes of the source that become a part. Unlike that of a GET, the range must lie inside the source. */
export function sourceRange(
  range: ByteRange | undefined,
  size: number,
): { readonly start: number; readonly end: number } {
  if (range === undefined) return { start: 0, end: size };
  const end = range.kind === 'from' ? (range.endInclusive ?? size - 1) : size - 1;
  if (end >= size) {
    throw new S3Error('InvalidArgument', `The range to copy ends at ${end}, but the source has ${size} bytes.`);
  }
  return resolveRange(range, size);
}

/** Returns the headers of the source, without its storage class: as in S3, a copy has that of the request. */
function headersOf(info: ObjectInfo, storageClass: string | undefined): ObjectHeaders {
  const { contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl, expires } = info;
  return {
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
    ...(contentDisposition !== undefined && { contentDisposition }),
    ...(contentLanguage !== undefined && { contentLanguage }),
    ...(cacheControl !== undefined && { cacheControl }),
    ...(expires !== undefined && { expires }),
    ...(storageClass !== undefined && storageClass !== 'STANDARD' && { storageClass }),
    metadata: info.metadata,
  };
}
