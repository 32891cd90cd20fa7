import { maxCompleteDocument, parseCompleteMultipartUpload } from '../../../protocol/s3/complete-multipart-request.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import type { Answer } from '../../access/answer.ts';
import type { CompleteMultipartUpload } from '../../objects/object-layer.ts';
import { quoted, xmlAnswer } from '../answers.ts';
import { writeConditions } from '../conditions.ts';
import { customerKeyOf } from '../customer-key.ts';
import { checksumElement, documentMd5 } from '../digest-headers.ts';
import { encryptionHeaders } from '../encryption-headers.ts';
import { answerError } from '../error-answer.ts';
import { header } from '../header.ts';
import { uploadIdOf } from '../multipart-parameters.ts';
import type { Operation, S3Call } from '../operation.ts';
import { readDocument } from '../request-body.ts';
import { slowAnswer } from '../slow-answer.ts';
import { checkRepeatedEncryption, uploadContext } from '../upload-context.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html */
export const completeMultipartUpload: Operation = {
  name: 'CompleteMultipartUpload',
  action: 's3:PutObject',
  context: uploadContext,
  async handle(call) {
    await checkRepeatedEncryption(call);
    const request = {
      bucket: call.bucket,
      key: call.key,
      uploadId: uploadIdOf(call),
      parts: parseCompleteMultipartUpload(
        await readDocument(call, maxCompleteDocument, 'MalformedXML', documentMd5(call.request.headers)),
      ),
      conditions: writeConditions(call.request.headers),
    };
    return slowAnswer(complete(call, request), (error) => answerError(error, call.request));
  },
};

async function complete(call: S3Call, request: CompleteMultipartUpload): Promise<Answer> {
  const info = await call.objects.completeMultipartUpload(request);
  const { checksum } = info;
  const scheme = call.request.secure ? 'https' : 'http';
  return xmlAnswer(
    xmlDocument('CompleteMultipartUploadResult', [
      element('Location', `${scheme}://${header(call.request.headers, 'host') ?? ''}${call.request.rawPath}`),
      element('Bucket', call.bucket),
      element('Key', call.key),
      element('ETag', quoted(info.etag)),
      checksum === undefined ? undefined : element(checksumElement(checksum.algorithm), checksum.value),
      checksum === undefined ? undefined : element('ChecksumType', checksum.type),
    ]),
    encryptionHeaders(info.encryption, customerKeyOf(call)),
  );
}
