import { createHash } from 'node:crypto';
import type { S3Request } from './client.ts';

/** The body and the headers of a request with a document. S3 demands a checksum for some of them. */
export function xmlBody(document: string): Required<Pick<S3Request, 'body' | 'headers'>> {
  const body = Buffer.from(document);
  const md5 = createHash('md5').update(body).digest('base64');
  return { body, headers: { 'content-md5': md5, 'content-type': 'application/xml' } };
}
