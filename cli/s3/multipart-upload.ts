import { maxParts, writeCompleteMultipartUpload } from '../../protocol/s3/requests/complete-multipart-request.ts';
import { type CompletedPart } from '../../protocol/s3/completed-part.ts';
import {
  readCompletedUpload,
  readCopyResult,
  readInitiatedUpload,
  readErrorDocument,
  readListParts,
} from '../../protocol/s3/responses.ts';
import type { S3Client } from './client.ts';
import { copySource, headObject, storedEtag, type CopySource, type ObjectHeaders } from './objects.ts';
import type { RequestBody } from './request-body.ts';
import { ResponseError } from '../../protocol/response-error.ts';

const mebibyte = 1_024 * 1_024;

/** The size of a part: the wanted one, or the number of whole MiB that keeps the upload within 10,000 parts. */
export function partSizeFor(size: number, wanted: number): number {
  return Math.max(wanted, Math.ceil(size / maxParts / mebibyte) * mebibyte);
}

export interface Upload {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
}

export async function createUpload(
  client: S3Client,
  bucket: string,
  key: string,
  headers: ObjectHeaders,
): Promise<Upload> {
  const { text } = await client.text({ method: 'POST', bucket, key, query: { uploads: '' }, headers });
  return { bucket, key, uploadId: readInitiatedUpload(text) };
}

export async function uploadPart(
  client: S3Client,
  upload: Upload,
  partNumber: number,
  body: RequestBody,
  partHeaders: ObjectHeaders = {},
): Promise<CompletedPart> {
  const { bucket, key, uploadId } = upload;
  const query = { partNumber, uploadId };
  const { headers } = await client.text({ method: 'PUT', bucket, key, query, body, headers: partHeaders });
  return { partNumber, etag: storedEtag(headers.etag) };
}

/** A part that the server has. */
export interface StoredPart {
  readonly partNumber: number;
  /** Bytes. */
  readonly size: number;
  readonly etag: string;
}

/** Lists the parts of an upload in the order of their numbers. @throws ResponseError NoSuchUpload */
export async function* listParts(client: S3Client, upload: Upload): AsyncGenerator<StoredPart, void, undefined> {
  const { bucket, key, uploadId } = upload;
  let next: string | undefined;
  do {
    const query = { uploadId, 'part-number-marker': next };
    const page = readListParts((await client.text({ method: 'GET', bucket, key, query })).text);
    yield* page.parts;
    next = page.next;
  } while (next !== undefined);
}

/** Copies a part from an object of the same server; `end` is exclusive. */
export async function copyPart(
  client: S3Client,
  upload: Upload,
  partNumber: number,
  source: CopySource,
  range: { readonly start: number; readonly end: number },
  partHeaders: ObjectHeaders,
): Promise<CompletedPart> {
  const { bucket, key, uploadId } = upload;
  const { text } = await client.text({
    method: 'PUT',
    bucket,
    key,
    query: { partNumber, uploadId },
    headers: {
      ...partHeaders,
      ...copySource(source),
      'x-amz-copy-source-range': `bytes=${range.start}-${range.end - 1}`,
    },
  });
  return { partNumber, ...readCopyResult(text) };
}

/** Returns the ETag of the object. */
export async function completeUpload(
  client: S3Client,
  upload: Upload,
  parts: readonly CompletedPart[],
  size: number,
): Promise<string> {
  const { bucket, key, uploadId } = upload;
  const body = Buffer.from(writeCompleteMultipartUpload(parts));
  try {
    const { text } = await client.text({
      method: 'POST',
      bucket,
      key,
      query: { uploadId },
      body,
      headers: { 'content-type': 'application/xml' },
    });
    // The server sends the status before it has finished, so a failure may have the status 200.
    const failure = readErrorDocument(text);
    if (failure !== undefined)
      throw new ResponseError(failure.code, failure.message, { status: 500, fields: failure.fields });
    return readCompletedUpload(text);
  } catch (error) {
    if (!(error instanceof ResponseError) || error.code !== 'NoSuchUpload') throw error;
    // After a retry the upload is missing because the first attempt completed it.
    const object = await headObject(client, { bucket, key }).catch(() => undefined);
    if (object?.size === size && object.etag.endsWith(`-${parts.length}`)) return object.etag;
    throw error;
  }
}

export async function abortUpload(client: S3Client, upload: Upload): Promise<void> {
  const { bucket, key, uploadId } = upload;
  await client.text({ method: 'DELETE', bucket, key, query: { uploadId } });
}
