import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import type { Answer } from '../../access/answer.ts';
import { quoted, xmlAnswer } from '../answers.ts';
import { parseCopyRange } from '../byte-range.ts';
import { copySource } from '../copy-source.ts';
import { customerKeyOf } from '../customer-key.ts';
import { checksumElement } from '../digest-headers.ts';
import { encryptionHeaders } from '../encryption-headers.ts';
import { answerError } from '../error-answer.ts';
import { header } from '../header.ts';
import { partNumberOf, uploadIdOf } from '../multipart-parameters.ts';
import type { Operation, S3Call } from '../operation.ts';
import { slowAnswer } from '../slow-answer.ts';
import { uploadContext } from '../upload-context.ts';

type Request = Parameters<S3Call['objects']['copyPart']>[0];

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html */
export const uploadPartCopy: Operation = {
  name: 'UploadPartCopy',
  action: 's3:PutObject',
  context: uploadContext,
  async handle(call) {
    const { headers } = call.request;
    const customerKey = customerKeyOf(call);
    const source = copySource(call);
    await call.require('s3:GetObject', `${source.bucket}/${source.key}`);
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
    encryptionHeaders(part.encryption, request.customerKey),
  );
}
