import { aclOfNewObject } from '../acl/acl-request.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import type { CreateMultipartUpload } from '../../objects/contract/object-layer.ts';
import { abortionHeaders, xmlAnswer } from '../answers.ts';
import { hasAclHeaders, writeConditions, storedHeaders } from '../object-headers.ts';
import { announcedAlgorithm, givenChecksumType } from '../request-body.ts';
import { encryptionHeaders, givenKey, requestedEncryption } from '../encryption-headers.ts';
import { replicaOfRequest } from '../object/replica-headers.ts';
import { lockOfRequest, tagsOfNew } from '../tag-and-lock-headers.ts';
import type { Operation, S3Call } from '../operation.ts';
import { checkWriteConditions } from '../../objects/versions/preconditions.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html */
export const createMultipartUpload: Operation = {
  name: 'CreateMultipartUpload',
  action: 's3:PutObject',
  createsObject: false,
  async handle(call) {
    const encryption = requestedEncryption(call);
    const checksum = uploadChecksum(call);
    const replica = await replicaOfRequest(call);
    const tags = await tagsOfNew(call, replica === undefined ? 'client' : 'replica');
    const lock = await lockOfRequest(call);
    const acl = hasAclHeaders(call.request.headers) ? await aclOfNewObject(call) : undefined;
    await checkConditions(call);
    const upload = await call.objects.createMultipartUpload({
      bucket: call.bucket,
      key: call.key,
      headers: storedHeaders(call.request.headers),
      encryption,
      checksum,
      tags,
      lock,
      acl,
      writer: call,
      replica,
    });
    return xmlAnswer(
      xmlDocument('InitiateMultipartUploadResult', [
        element('Bucket', call.bucket),
        element('Key', call.key),
        element('UploadId', upload.uploadId),
      ]),
      {
        ...encryptionHeaders(upload.encryption, givenKey(encryption)),
        ...abortionHeaders(upload.abortion),
        ...(checksum === undefined
          ? {}
          : { 'x-amz-checksum-algorithm': checksum.algorithm, 'x-amz-checksum-type': checksum.type }),
      },
    );
  },
};

/**
 * S3 tests conditions when the upload is completed. A client that also sends them here wants the refusal before it sends the parts. The
 * completion tests its own conditions again.
 */
async function checkConditions(call: S3Call): Promise<void> {
  const conditions = writeConditions(call.request.headers);
  if (conditions === undefined) return;
  const { bucket, key: prefix } = call;
  const { objects } = await call.objects.listObjects({ bucket, prefix, delimiter: '', after: '', limit: 1 });
  checkWriteConditions(conditions, objects[0]?.key === prefix ? objects[0] : undefined, prefix);
}

/** CRC-64 is always of the full object. The other algorithms are composite by default. */
function uploadChecksum({ request: { headers } }: S3Call): CreateMultipartUpload['checksum'] {
  const algorithm = announcedAlgorithm(headers);
  const type = givenChecksumType(headers);
  if (algorithm !== undefined) {
    return { algorithm, type: type ?? (algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE') };
  }
  if (type === undefined) return undefined;
  throw new S3Error(
    'InvalidRequest',
    'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.',
  );
}
