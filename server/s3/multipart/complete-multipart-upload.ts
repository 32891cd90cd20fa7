import type { IncomingHttpHeaders } from 'node:http';
import {
  maxCompleteDocument,
  parseCompleteMultipartUpload,
} from '../../../protocol/s3/requests/complete-multipart-request.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import type { Answer } from '../../http/contract/request.ts';
import type { CompleteMultipartUpload } from '../../objects/contract/object-layer.ts';
import { createdHeaders, quoted, xmlAnswer, slowAnswer, emptyAnswer } from '../answers.ts';
import { writeConditions } from '../object-headers.ts';
import { customerKeyOf, encryptionHeaders } from '../encryption-headers.ts';
import { checksumElement, documentDigests, givenChecksum, givenChecksumType, readDocument } from '../request-body.ts';
import { header } from '../request.ts';
import { uploadIdOf, checkRepeatedEncryption, uploadContext } from './upload-request.ts';
import type { Operation, S3Call, Explicit } from '../operation.ts';
import { answerError } from '../../http/contract/error-answer.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html */
export const completeMultipartUpload: Operation = {
  name: 'CompleteMultipartUpload',
  action: 's3:PutObject',
  createsObject: true,
  context: uploadContext,
  async handle(call) {
    await checkRepeatedEncryption(call);
    const customerKey = customerKeyOf(call);
    const uploadId = uploadIdOf(call);
    const request = {
      bucket: call.bucket,
      key: call.key,
      uploadId,
      parts: parseCompleteMultipartUpload(
        await readDocument(
          call,
          maxCompleteDocument,
          'MalformedXML',
          documentDigests(call.request.headers, call.auth.trailing),
        ),
        uploadId,
      ),
      ...wholeObject(call.request.headers),
      conditions: writeConditions(call.request.headers),
      customerKey,
      onlyId: call.grantedObject,
      by: call,
    };
    return slowAnswer(complete(call, request), (error) => answerError(error, call.request));
  },
};

async function complete(call: S3Call, request: Explicit<CompleteMultipartUpload>): Promise<Answer> {
  const info = await call.objects.completeMultipartUpload(request);
  if (info.replication !== undefined) await call.replications?.waitFor(info);
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
    { ...createdHeaders(info), ...encryptionHeaders(info.encryption, request.customerKey) },
  );
}

/** Reads the headers that describe the whole object, which the server checks. */
function wholeObject(
  headers: IncomingHttpHeaders,
): Pick<Explicit<CompleteMultipartUpload>, 'checksum' | 'checksumType' | 'size'> {
  const size = header(headers, 'x-amz-mp-object-size');
  if (size !== undefined && !/^[0-9]{1,15}$/.test(size)) {
    throw new S3Error(
      'InvalidRequest',
      'Value for x-amz-mp-object-size header is invalid: it must be a number of bytes.',
    );
  }
  return {
    checksum: givenChecksum(headers, true),
    checksumType: givenChecksumType(headers),
    size: size === undefined ? undefined : Number(size),
  };
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html */
export const abortMultipartUpload: Operation = {
  name: 'AbortMultipartUpload',
  action: 's3:AbortMultipartUpload',
  async handle(call) {
    await call.objects.abortMultipartUpload(call.bucket, call.key, uploadIdOf(call));
    return emptyAnswer(204);
  },
};
