import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { quoted, xmlAnswer } from '../answers.ts';
import { customerKeyOf } from '../customer-key.ts';
import { checksumElement } from '../digest-headers.ts';
import { keyEncoding, pageSize } from '../listing.ts';
import { maxPartNumber, uploadIdOf } from '../multipart-parameters.ts';
import type { Operation } from '../operation.ts';
import { owner } from '../owner.ts';
import { integerParameter } from '../query.ts';
import { checkRepeatedEncryption } from '../upload-context.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html */
export const listParts: Operation = {
  name: 'ListParts',
  action: 's3:ListMultipartUploadParts',
  async handle(call) {
    const encoding = keyEncoding(call);
    const uploadId = uploadIdOf(call);
    await checkRepeatedEncryption(call);
    const limit = pageSize(call, 'max-parts');
    const after = integerParameter(call.query, 'part-number-marker', { min: 0, max: maxPartNumber, absent: 0 });
    const { bucket, key } = call;
    const customerKey = customerKeyOf(call);
    const listing = await call.objects.listParts({
      bucket,
      key,
      uploadId,
      after,
      limit,
      ...(customerKey && { customerKey }),
    });
    const next = limit === 0 ? undefined : listing.next;
    return xmlAnswer(
      xmlDocument('ListPartsResult', [
        element('Bucket', bucket),
        element('Key', encoding.encode(key)),
        element('UploadId', uploadId),
        owner('Initiator'),
        owner('Owner'),
        element('StorageClass', listing.storageClass ?? 'STANDARD'),
        element('PartNumberMarker', after),
        next === undefined ? undefined : element('NextPartNumberMarker', next),
        element('MaxParts', limit),
        encoding.told,
        element('IsTruncated', next !== undefined),
        ...listing.parts.map((part) =>
          element('Part', [
            element('PartNumber', part.partNumber),
            element('LastModified', part.lastModified),
            element('ETag', quoted(part.etag)),
            part.checksum === undefined
              ? undefined
              : element(checksumElement(part.checksum.algorithm), part.checksum.value),
            element('Size', part.size),
          ]),
        ),
      ]),
    );
  },
};
