import { emptyAnswer, quoted, xmlAnswer, slowAnswer, sourceVersion } from '../answers.ts';
import { customerKeyOf, encryptionHeaders } from '../encryption-headers.ts';
import { checksumHeader, expectedDigests, uploadSize, checksumElement } from '../request-body.ts';
import { checkEncryptionOfPart, partNumberOf, uploadIdOf, uploadContext } from './upload-request.ts';
import { type Operation, type S3Call } from '../operation.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import type { Answer } from '../../http/contract/request.ts';
import type { Checksum, ExpectedDigests } from '../../objects/contract/object-layer.ts';
import { permittedSource, parseCopyRange } from '../copy-source.ts';
import { header } from '../request.ts';
import { answerError } from '../../http/contract/error-answer.ts';

const maxPart = 5 * 1024 ** 3;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html */
export const uploadPart: Operation = {
  name: 'UploadPart',
  action: 's3:PutObject',
  createsObject: false,
  context: uploadContext,
  async handle(call) {
    await checkEncryptionOfPart(call);
    const customerKey = customerKeyOf(call);
    const digests = expectedDigests(call.request.headers, call.auth.trailing);
    const part = await call.objects.putPart({
      bucket: call.bucket,
      key: call.key,
      uploadId: uploadIdOf(call),
      partNumber: partNumberOf(call),
      size: uploadSize(call, maxPart),
      digests,
      body: call.auth.body,
      customerKey,
    });
    return emptyAnswer(200, {
      etag: quoted(part.etag),
      ...encryptionHeaders(part.encryption, customerKey),
      ...answeredChecksum(digests, part.checksum),
    });
  },
};

/** Returns the checksum that the client has sent. An upload that began without one stores another one. */
function answeredChecksum(
  { checksum, trailing }: ExpectedDigests,
  stored: Checksum | undefined,
): Record<string, string> {
  const trailer = trailing?.value();
  const sent = checksum ?? (trailing && trailer !== undefined ? { ...trailing, value: trailer } : stored);
  return sent === undefined ? {} : { [checksumHeader(sent.algorithm)]: sent.value };
}

type Request = Parameters<S3Call['objects']['copyPart']>[0];

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html */
export const uploadPartCopy: Operation = {
  name: 'UploadPartCopy',
  action: 's3:PutObject',
  createsObject: false,
  context: uploadContext,
  async handle(call) {
    const { headers } = call.request;
    await checkEncryptionOfPart(call);
    const customerKey = customerKeyOf(call);
    const source = await permittedSource(call);
    const range = parseCopyRange(header(headers, 'x-amz-copy-source-range'));
    const request = {
      bucket: call.bucket,
      key: call.key,
      uploadId: uploadIdOf(call),
      partNumber: partNumberOf(call),
      source,
      customerKey,
      range,
    };
    return slowAnswer(copyPart(call, request), (error) => answerError(error, call.request));
  },
};

async function copyPart(call: S3Call, request: Request): Promise<Answer> {
  const part = await call.objects.copyPart(request);
  return xmlAnswer(
    xmlDocument('CopyPartResult', [
      element('LastModified', part.lastModified),
      element('ETag', quoted(part.etag)),
      part.checksum === undefined ? undefined : element(checksumElement(part.checksum.algorithm), part.checksum.value),
    ]),
    { ...sourceVersion(part), ...encryptionHeaders(part.encryption, request.customerKey) },
  );
}
