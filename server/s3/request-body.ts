import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import { readWholeBody } from '../access/read-whole-body.ts';
import type { ExpectedDigests } from '../objects/object-layer.ts';
import { digestWhole } from '../objects/checksums/body-digests.ts';
import { expectedDigests } from './digest-headers.ts';
import type { S3Call } from './operation.ts';

/**
 * The whole body of a request that carries a document.
 *
 * @throws S3Error MalformedXML, or what `code` says, above `maxBytes`, BadDigest where Content-MD5 or a checksum differs
 */
export async function readDocument(
  call: S3Call,
  maxBytes: number,
  code: S3ErrorCode = 'MalformedXML',
  expected: ExpectedDigests = expectedDigests(call.request.headers, call.auth.trailing),
): Promise<Buffer> {
  const tooLarge = () => new S3Error(code, `The document must not be larger than ${maxBytes} bytes.`);
  if ((call.auth.size ?? 0) > maxBytes) throw tooLarge();
  const document = await readWholeBody(call.auth.body, { maxBytes, tooLarge });
  digestWhole(document, expected, { md5: false, sum: false });
  return document;
}
