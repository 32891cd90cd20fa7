import { createHash } from 'node:crypto';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import { contentMd5 } from './digest-headers.ts';
import type { S3Call } from './operation.ts';

/**
 * The whole body of a request that carries a document.
 *
 * @throws S3Error MalformedXML, or what `code` says, above `maxBytes`, BadDigest where Content-MD5 differs
 */
export async function readDocument(
  call: S3Call,
  maxBytes: number,
  code: S3ErrorCode = 'MalformedXML',
): Promise<Buffer> {
  const expected = contentMd5(call.request.headers);
  const tooLarge = () => new S3Error(code, `The document must not be larger than ${maxBytes} bytes.`);
  if ((call.auth.size ?? 0) > maxBytes) throw tooLarge();
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of call.auth.body) {
    size += piece.length;
    if (size > maxBytes) throw tooLarge();
    pieces.push(piece);
  }
  const document = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  if (expected !== undefined && createHash('md5').update(document).digest('base64') !== expected) {
    throw new S3Error('BadDigest');
  }
  return document;
}
