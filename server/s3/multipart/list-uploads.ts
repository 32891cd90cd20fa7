import { element, xmlDocument, type Xml } from '../../../protocol/s3/xml-writer.ts';
import type { CreateMultipartUpload } from '../../objects/contract/object-layer.ts';
import { abortionHeaders, xmlAnswer, quoted } from '../answers.ts';
import { commonPrefixes, keyElement, keyEncoding, pageSize } from '../listing.ts';
import type { Operation } from '../operation.ts';
import { owner } from '../owner.ts';
import { customerKeyOf } from '../encryption-headers.ts';
import { checksumElement } from '../request-body.ts';
import { maxPartNumber, uploadIdOf, checkRepeatedEncryption } from './upload-request.ts';
import { integerParameter } from '../request.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html */
export const listMultipartUploads: Operation = {
  name: 'ListMultipartUploads',
  action: 's3:ListBucketMultipartUploads',
  async handle(call) {
    const { query } = call;
    const encoding = keyEncoding(call);
    const limit = pageSize(call, 'max-uploads');
    const prefix = query.get('prefix') ?? '';
    const delimiter = query.get('delimiter') ?? '';
    const afterKey = query.get('key-marker') ?? '';
    // S3 ignores an upload marker without a key marker.
    const afterUploadId = afterKey === '' ? '' : (query.get('upload-id-marker') ?? '');
    const listing = await call.objects.listMultipartUploads({
      bucket: call.bucket,
      prefix,
      delimiter,
      afterKey,
      afterUploadId,
      limit,
    });
    const next = limit === 0 ? undefined : listing.next;
    return xmlAnswer(
      xmlDocument('ListMultipartUploadsResult', [
        element('Bucket', call.bucket),
        element('KeyMarker', encoding.encode(afterKey)),
        element('UploadIdMarker', afterUploadId),
        keyElement('NextKeyMarker', next?.key, encoding),
        next === undefined ? undefined : element('NextUploadIdMarker', next.uploadId),
        element('Prefix', encoding.encode(prefix)),
        keyElement('Delimiter', delimiter, encoding),
        element('MaxUploads', limit),
        encoding.element,
        element('IsTruncated', next !== undefined),
        ...listing.uploads.map(({ key, uploadId, initiated, storageClass, checksum, owner: id }) =>
          element('Upload', [
            element('Key', encoding.encode(key)),
            element('UploadId', uploadId),
            owner('Initiator'),
            owner('Owner', id),
            element('StorageClass', storageClass ?? 'STANDARD'),
            element('Initiated', initiated),
            ...checksumOf(checksum),
          ]),
        ),
        ...commonPrefixes(listing.commonPrefixes, encoding),
      ]),
    );
  },
};

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
        owner('Owner', listing.owner),
        element('StorageClass', listing.storageClass ?? 'STANDARD'),
        ...checksumOf(listing.checksum),
        element('PartNumberMarker', after),
        element('NextPartNumberMarker', listing.parts.at(-1)?.partNumber ?? after),
        element('MaxParts', limit),
        encoding.element,
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
      abortionHeaders(listing.abortion),
    );
  },
};

function checksumOf(checksum: CreateMultipartUpload['checksum']): readonly Xml[] {
  if (checksum === undefined) return [];
  return [element('ChecksumAlgorithm', checksum.algorithm), element('ChecksumType', checksum.type)];
}
