import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer } from '../answers.ts';
import { commonPrefixes, keyElement, keyEncoding, pageSize } from '../listing.ts';
import type { Operation } from '../operation.ts';
import { owner } from '../owner.ts';

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
    // Without a key marker the upload marker means nothing (S3 ignores it).
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
        encoding.told,
        element('IsTruncated', next !== undefined),
        ...listing.uploads.map(({ key, uploadId, initiated }) =>
          element('Upload', [
            element('Key', encoding.encode(key)),
            element('UploadId', uploadId),
            owner('Initiator'),
            owner('Owner'),
            element('StorageClass', 'STANDARD'),
            element('Initiated', initiated),
          ]),
        ),
        ...commonPrefixes(listing.commonPrefixes, encoding),
      ]),
    );
  },
};
