import type { ObjectDetails } from '../../../contract/answers.ts';
import { bucketPath } from './buckets.ts';
import { ApiError, call } from './call.ts';
import { childrenOf, copySource, decoded, headerText, s3, s3Document, textIn } from './s3.ts';
import { xml, xmlDocument } from '../text/xml.ts';

/** Bytes. CopyObject copies no larger object: those are copied in parts. */
const maxCopy = 5 * 1024 ** 3;
const partSize = 1024 ** 3;

/** What a copy in parts does not take over by itself. */
function headersOf(details: ObjectDetails): Record<string, string> {
  const headers = {
    'content-type': details.contentType,
    'content-encoding': details.contentEncoding,
    'content-disposition': details.contentDisposition,
    'content-language': details.contentLanguage,
    'cache-control': details.cacheControl,
    expires: details.expires,
    ...Object.fromEntries(
      Object.entries(details.metadata).map(([name, value]) => [`x-amz-meta-${name}`, headerText(value)]),
    ),
  };
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export interface Place {
  readonly bucket: string;
  readonly key: string;
}

interface CopyOptions {
  readonly size: number;
  /** Replaces an object at the target. Without it the copy fails with `PreconditionFailed`. */
  readonly replace: boolean;
  readonly signal?: AbortSignal;
}

/** Copies an object on the server, with its metadata and tags. */
export async function copyObject(source: Place, target: Place, { size, replace, signal }: CopyOptions): Promise<void> {
  const unless: Record<string, string> = replace ? {} : { 'if-none-match': '*' };
  const from = { 'x-amz-copy-source': copySource(source.bucket, source.key) };
  if (size <= maxCopy) {
    await s3Document('PUT', target.bucket, { key: target.key, headers: { ...from, ...unless }, signal });
    return;
  }
  const details = await call<ObjectDetails>('GET', `${bucketPath(source.bucket)}/object`, {
    query: { key: source.key },
  });
  const created = await s3Document('POST', target.bucket, {
    key: target.key,
    query: { uploads: '' },
    headers: headersOf(details),
    signal,
  });
  const uploadId = textIn(created, 'UploadId');
  const parts = [];
  // A change of the source meanwhile would mix two objects.
  const same = { 'x-amz-copy-source-if-match': `"${details.etag}"` };
  for (let start = 0, number = 1; start < size; start += partSize, number += 1) {
    const range = `bytes=${start}-${Math.min(start + partSize, size) - 1}`;
    const part = await s3Document('PUT', target.bucket, {
      key: target.key,
      query: { partNumber: String(number), uploadId },
      headers: { ...from, ...same, 'x-amz-copy-source-range': range },
      signal,
    });
    parts.push(xml('Part', [xml('PartNumber', number), xml('ETag', textIn(part, 'ETag') ?? '')]));
  }
  await s3Document('POST', target.bucket, {
    key: target.key,
    query: { uploadId },
    headers: unless,
    body: xmlDocument('CompleteMultipartUpload', parts),
    signal,
  });
}

/**
 * Renames an object in one step, without a copy of its body. Resolves with false where the bucket has versions: it is then copied and
 * deleted.
 */
export async function renameObject(
  { bucket, key }: Place,
  to: string,
  { replace, signal }: Omit<CopyOptions, 'size'>,
): Promise<boolean> {
  const unless: Record<string, string> = replace ? {} : { 'if-none-match': '*' };
  const source = { 'x-amz-rename-source': encodeURIComponent(key) };
  try {
    await s3('PUT', bucket, { key: to, query: { renameObject: '' }, headers: { ...source, ...unless }, signal });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'InvalidBucketState') return false;
    throw error;
  }
}

export async function deleteObject({ bucket, key }: Place, signal?: AbortSignal): Promise<void> {
  await s3('DELETE', bucket, { key, signal });
}

interface ListedKey {
  readonly key: string;
  readonly size: number;
}

/** All objects with the prefix, a page at a time. */
export async function* listBelow(
  bucket: string,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly ListedKey[]> {
  for (let token: string | undefined; ;) {
    const root: Element = await s3Document('GET', bucket, {
      query: { 'list-type': '2', prefix, 'encoding-type': 'url', 'continuation-token': token },
      signal,
    });
    yield childrenOf(root, 'Contents').map((element) => ({
      key: decoded(textIn(element, 'Key')),
      size: Number(textIn(element, 'Size')),
    }));
    token = textIn(root, 'NextContinuationToken');
    if (token === undefined) return;
  }
}

/** Creates the object that S3 clients take for an empty folder. */
export async function createFolder(bucket: string, prefix: string): Promise<void> {
  try {
    await s3('PUT', bucket, {
      key: prefix,
      headers: { 'if-none-match': '*', 'content-type': 'application/x-directory' },
    });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'PreconditionFailed')) throw error;
    throw new ApiError(412, error.code, 'There is a folder of this name already.');
  }
}
