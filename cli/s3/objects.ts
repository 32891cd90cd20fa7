import type { IncomingHttpHeaders } from 'node:http';
import { readCopyResult, readDeleteFailures, type DeleteFailure } from '../../protocol/s3/responses.ts';
import { percentEncodePath } from '../../protocol/sigv4/canonical-request.ts';
import type { S3Client } from './client.ts';
import type { RequestBody } from './request-body.ts';
import { createHash } from 'node:crypto';
import { writeDeleteObjects } from '../../protocol/s3/delete-objects-request.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, retryBackoff } from './retry.ts';
import { backoffMs } from '../../platform/backoff.ts';

interface ObjectProperties {
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
  readonly contentType: string;
  readonly headers: IncomingHttpHeaders;
}

export async function headObject(client: S3Client, bucket: string, key: string): Promise<ObjectProperties> {
  const { headers } = await client.text({ method: 'HEAD', bucket, key });
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
  return (answer.headers.etag ?? '').replaceAll('"', '');
}

export async function copyObject(
  client: S3Client,
  source: { readonly bucket: string; readonly key: string; readonly etag: string },
  target: { readonly bucket: string; readonly key: string },
  headers: ObjectHeaders,
): Promise<string> {
  const { text } = await client.text({
    method: 'PUT',
    bucket: target.bucket,
    key: target.key,
    headers: { ...headers, ...copySource(source) },
  });
  return readCopyResult(text);
}

/** The server copies only an object with this ETag. */
export function copySource(source: {
  readonly bucket: string;
  readonly key: string;
  readonly etag: string;
}): ObjectHeaders {
  return {
    'x-amz-copy-source': `/${source.bucket}/${percentEncodePath(source.key)}`,
    ...(source.etag === '' ? {} : { 'x-amz-copy-source-if-match': `"${source.etag}"` }),
  };
}

export async function deleteObject(client: S3Client, bucket: string, key: string): Promise<void> {
  await client.text({ method: 'DELETE', bucket, key });
}

/** Deletes up to 1,000 keys in one request, and returns those that failed. */
export async function deleteObjects(
  client: S3Client,
  bucket: string,
  keys: readonly string[],
): Promise<readonly DeleteFailure[]> {
  const body = Buffer.from(writeDeleteObjects({ quiet: true, objects: keys.map((key) => ({ key })) }));
  const { text } = await client.text({
    method: 'POST',
    bucket,
    query: { delete: '' },
    body,
    // S3 demands a checksum for this request.
    headers: { 'content-md5': createHash('md5').update(body).digest('base64'), 'content-type': 'application/xml' },
  });
  return readDeleteFailures(text);
}

interface ObjectRange {
  readonly bucket: string;
  readonly key: string;
  /** The expected ETag; empty accepts any. */
  readonly etag: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
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
      const { status, body } = await client.send({
        method: 'GET',
        bucket: range.bucket,
        key: range.key,
        headers: {
          range: `bytes=${at}-${range.end - 1}`,
          ...(range.etag === '' ? {} : { 'if-match': `"${range.etag}"` }),
        },
      });
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

function brokenOff(): Error {
  return Object.assign(new Error('The connection broke off amid the object'), { code: 'ECONNRESET' });
}
