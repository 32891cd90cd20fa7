import { isNotFound, isUnproven } from './error-of-status.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { ResponseError } from '../../protocol/response-error.ts';
import { isMarkedAsS3 } from '../../protocol/s3/s3-answer.ts';
import { readCopyResult, readDeleteResult } from '../../protocol/s3/responses.ts';
import { percentEncode, percentEncodePath } from '../../protocol/uri/percent-encoding.ts';
import type { S3Client, S3Request } from './client.ts';
import type { BodySink } from './connection/direct-body.ts';
import type { RequestBody } from './request-body.ts';
import { xmlBody } from './xml-body.ts';
import { writeDeleteObjects } from '../../protocol/s3/requests/delete-objects-request.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, retryBackoff } from './retry.ts';
import { backoffMs } from '../../platform/async/backoff.ts';

export interface ObjectProperties {
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
  readonly contentType: string;
  readonly headers: IncomingHttpHeaders;
}

/** An object, or one version of it. */
export interface ObjectRef {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
}

export async function headObject(
  client: S3Client,
  { bucket, key, versionId }: ObjectRef,
  options: { readonly headers?: ObjectHeaders; readonly partNumber?: number | undefined } = {},
): Promise<ObjectProperties> {
  const object = { bucket, key, query: { versionId, partNumber: options.partNumber } };
  const head = () => client.text({ method: 'HEAD', ...object, headers: options.headers });
  const { headers } = await head().catch(async (error: unknown) => {
    if (!isUnproven(error)) throw error;
    await client.text({ method: 'GET', ...object, headers: { ...options.headers, range: 'bytes=0-0' } });
    return head();
  });
  return {
    size: Number(headers['content-length'] ?? 0),
    etag: (headers.etag ?? '').replaceAll('"', ''),
    lastModified: new Date(headers['last-modified'] ?? 0),
    contentType: headers['content-type'] ?? '',
    headers,
  };
}

export type ObjectHeaders = Readonly<Record<string, string>>;

/** Returns the ETag. */
export async function putObject(
  client: S3Client,
  bucket: string,
  key: string,
  body: RequestBody,
  headers: ObjectHeaders,
): Promise<string> {
  const answer = await client.text({ method: 'PUT', bucket, key, body, headers });
  return storedEtag(answer.headers.etag);
}

/** The code of an answer that is good by its status alone. */
const notAnS3Answer = 'NotAnS3Answer';

/** Returns the ETag of what was stored. Throws where there is none: a proxy answered, and nothing may be stored. */
export function storedEtag(etag: string | undefined): string {
  if (etag !== undefined && etag !== '') return etag.replaceAll('"', '');
  throw new ResponseError(
    notAnS3Answer,
    'the answer has no ETag, so that it is not known whether the server stored anything; see if a proxy answers instead of it',
    { status: 502, fields: {} },
  );
}

export async function copyObject(
  client: S3Client,
  source: CopySource,
  target: ObjectRef,
  headers: ObjectHeaders,
): Promise<string> {
  const { text } = await client.text({
    method: 'PUT',
    bucket: target.bucket,
    key: target.key,
    headers: { ...headers, ...copySource(source) },
  });
  return readCopyResult(text).etag;
}

/** The server copies only an object with this ETag, if it is not empty. */
export interface CopySource extends ObjectRef {
  readonly etag: string;
  /** Headers for the key of the source. */
  readonly headers?: ObjectHeaders | undefined;
}

export function copySource({ bucket, key, versionId, etag, headers }: CopySource): ObjectHeaders {
  const version = versionId === undefined ? '' : `?versionId=${percentEncode(versionId)}`;
  return {
    ...headers,
    'x-amz-copy-source': `/${bucket}/${percentEncodePath(key)}${version}`,
    ...(etag === '' ? {} : { 'x-amz-copy-source-if-match': `"${etag}"` }),
  };
}

/** The version that a deletion removed, or the delete marker that it added. */
export interface Deletion {
  readonly deleteMarker: boolean;
  /** Empty where the bucket has no versions. */
  readonly versionId: string;
}

export async function deleteObject(
  client: S3Client,
  { bucket, key, versionId }: ObjectRef,
  options: DeleteOptions = {},
): Promise<Deletion> {
  const { headers } = await client.text({
    method: 'DELETE',
    bucket,
    key,
    query: { versionId },
    headers: {
      ...bypass(options),
      ...(options.purge === true && { 'x-minio-force-delete': 'true' }),
      ...(options.ifMatch !== undefined && options.ifMatch !== '' && { 'if-match': `"${options.ifMatch}"` }),
    },
  });
  if (!isMarkedAsS3(headers) && options.purge !== true) await confirmDeleted(client, { bucket, key, versionId });
  return {
    deleteMarker: headers['x-amz-delete-marker'] === 'true',
    versionId: String(headers['x-amz-version-id'] ?? ''),
  };
}

/**
 * Looks after the object whose deletion was answered without the headers of an S3, as by a proxy in place of the server. It is gone only where
 * the server says so.
 */
async function confirmDeleted(client: S3Client, object: ObjectRef): Promise<void> {
  let found = 'the object is still there';
  let cause: unknown;
  try {
    await headObject(client, object);
  } catch (error) {
    if (isNotFound(error)) return;
    if (!(error instanceof ResponseError)) throw error;
    found = `nothing tells whether the object is gone (${error.message})`;
    cause = error;
  }
  throw new ResponseError(
    notAnS3Answer,
    `the deletion of ${object.key} was answered, but not by an S3 server, and ${found}; see if a proxy answers instead of the server`,
    { status: 502, fields: {}, cause },
  );
}

export interface DeleteOptions {
  /** Removes versions under a retention of the mode GOVERNANCE too. */
  readonly bypass?: boolean | undefined;
  /** The object is removed only while it has this ETag; an empty one is not a condition. Some servers ignore it. */
  readonly ifMatch?: string | undefined;
  /** Removes everything below a prefix by one request, as only MinIO and Coffer do. */
  readonly purge?: boolean | undefined;
}

export function bypass(options: DeleteOptions): ObjectHeaders {
  return options.bypass === true ? { 'x-amz-bypass-governance-retention': 'true' } : {};
}

/** Deletes up to 1,000 objects or versions in one request. */
export async function deleteObjects(
  client: S3Client,
  bucket: string,
  objects: readonly Omit<ObjectRef, 'bucket'>[],
  options: DeleteOptions = {},
): Promise<ReturnType<typeof readDeleteResult>> {
  const { body, headers } = xmlBody(writeDeleteObjects({ quiet: false, objects }));
  const { text } = await client.text({
    method: 'POST',
    bucket,
    query: { delete: '' },
    body,
    headers: { ...headers, ...bypass(options) },
  });
  return readDeleteResult(text);
}

interface ObjectRange extends ObjectRef {
  /** The expected ETag; empty accepts any. */
  readonly etag: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Set if this is all of the object. It is then requested without a range, since MinIO has none in archives. */
  readonly isWhole?: boolean | undefined;
  /** Headers of the request, such as the key of an object under SSE-C. */
  readonly headers?: ObjectHeaders | undefined;
  /** Receives the headers of each answer. */
  readonly onHeaders?: ((headers: IncomingHttpHeaders) => void) | undefined;
}

const maxFailures = 6;

/**
 * Reads a range of an object. After an interruption it continues at the same offset with the same ETag. Only consecutive failures without
 * progress count.
 */
export async function* readObject(client: S3Client, range: ObjectRange): AsyncGenerator<Buffer, void, undefined> {
  let at = range.start;
  let failures = 0;
  while (at < range.end) {
    const from = at;
    try {
      const { status, headers, body } = await client.send(rangeRequest(range, at));
      range.onHeaders?.(headers);
      if (status !== 206 && at > 0) {
        body.destroy();
        throw new Error('The server does not answer with ranges of objects');
      }
      for await (const bytes of body as AsyncIterable<Buffer>) {
        at += bytes.length;
        if (at > range.end) throw new Error(`The server sent more bytes of \`${range.key}\` than asked for`);
        yield bytes;
      }
      if (at < range.end) throw brokenOff();
    } catch (error) {
      failures = at > from ? 1 : failures + 1;
      if (failures >= maxFailures || client.signal.aborted || !isTransient(error)) throw error;
      await sleep(backoffMs(failures, retryBackoff), undefined, { signal: client.signal });
    }
  }
}

function rangeRequest(range: ObjectRange, at: number): S3Request {
  return {
    method: 'GET',
    bucket: range.bucket,
    key: range.key,
    query: { versionId: range.versionId },
    headers: {
      ...range.headers,
      ...((at > 0 || range.isWhole !== true) && { range: `bytes=${at}-${range.end - 1}` }),
      ...(range.etag === '' ? {} : { 'if-match': `"${range.etag}"` }),
    },
  };
}

/**
 * Hands a range of an object over as it comes from the connection. Returns the number of bytes; the caller reads the rest by `readObject`.
 *
 * @throws what the sink throws
 */
export async function receiveObject(client: S3Client, range: ObjectRange, sink: BodySink): Promise<number> {
  const status = range.start === 0 && range.isWhole === true ? 200 : 206;
  const expected = { status, length: range.end - range.start, onHeaders: range.onHeaders } as const;
  return client.receive(rangeRequest(range, range.start), expected, sink);
}

function brokenOff(): Error {
  return Object.assign(new Error('The connection broke off amid the object'), { code: 'ECONNRESET' });
}
