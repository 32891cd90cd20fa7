import type { IncomingHttpHeaders } from 'node:http';
import { readCopyResult } from '../../protocol/s3/read-answers.ts';
import { percentEncodePath } from '../../protocol/sigv4/percent-encoding.ts';
import type { S3Client } from './client.ts';
import type { RequestBody } from './request-body.ts';

export interface ObjectProperties {
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

/** Answers the ETag. */
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

/** The source's content must still be that of the ETag. */
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
