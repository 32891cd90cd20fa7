import { requireKnowledge } from './object/read-object.ts';
import { bucketNameError, checkObjectKey } from '../../protocol/s3/names.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ByteRange, CopySource } from '../objects/contract/object-layer.ts';
import { parseRange } from '../objects/operations/byte-range.ts';
import { readConditions } from './object-headers.ts';
import { customerKeyOf } from './encryption-headers.ts';
import { header, checkVersion } from './request.ts';
import { readActions, type S3Call } from './operation.ts';

const name = 'x-amz-copy-source';

/**
 * Parses `x-amz-copy-source: [/]bucket/key[?versionId=ID]`, which is percent-encoded, and reads the conditions and the customer key of
 * the source.
 *
 * @throws S3Error InvalidArgument when the header has another form
 */
export function copySource(call: Pick<S3Call, 'request' | 'allowsCustomerKeys'>): CopySource {
  const { headers } = call.request;
  const text = header(headers, name) ?? '';
  const versionAt = text.indexOf('?versionId=');
  const path = versionAt < 0 ? text : text.slice(0, versionAt);
  const versionId = versionAt < 0 ? undefined : text.slice(versionAt + '?versionId='.length);
  checkVersion(versionId);
  const decoded = decodePath(path).replace(/^\//, '');
  const slash = decoded.indexOf('/');
  const bucket = decoded.slice(0, slash);
  const key = decoded.slice(slash + 1);
  if (slash < 1 || key === '') {
    throw invalid('Copy Source must mention the source bucket and key: sourcebucket/sourcekey', text);
  }
  if (bucketNameError(bucket) !== undefined) throw invalid('Invalid copy source bucket name', text);
  checkObjectKey(key);
  const customerKey = customerKeyOf(call, 'source');
  const conditions = readConditions(headers, `${name}-`);
  return { bucket, key, versionId, conditions, ...(customerKey && { customerKey }) };
}

/**
 * Parses the source of a copy, and requires the permission to read it. As in S3, only a caller who may list its bucket learns that it is
 * absent.
 *
 * @throws S3Error AccessDenied, InvalidArgument
 */
export async function permittedSource(call: S3Call): Promise<CopySource> {
  const source = copySource(call);
  const onlyId = await call.requireVersion(readActions, `${source.bucket}/${source.key}`, source.versionId);
  return { ...source, onlyId, onAbsent: (error) => requireKnowledge(call, error, source.bucket) };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw invalid('Invalid copy source encoding', path);
  }
}

function invalid(message: string, value: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}

/** Parses `x-amz-copy-source-range`, which must have both ends. */
export function parseCopyRange(text: string | undefined): (ByteRange & { readonly kind: 'from' }) | undefined {
  if (text === undefined) return undefined;
  const range = parseRange(text);
  if (range?.kind === 'from' && range.endInclusive !== undefined) return range;
  throw new S3Error(
    'InvalidArgument',
    'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
    { details: { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: text.slice(0, 100) } },
  );
}
