import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer } from '../answers.ts';
import { commonPrefixes, keyElement, keyEncoding, objectElements, pageSize } from '../listing.ts';
import type { Operation } from '../operation.ts';

/** Version 1 of the listing. @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjects.html */
export const listObjects: Operation = {
  name: 'ListObjects',
  action: 's3:ListBucket',
  async handle(call) {
    const encoding = keyEncoding(call);
    const limit = pageSize(call, 'max-keys');
    const prefix = call.query.get('prefix') ?? '';
    const delimiter = call.query.get('delimiter') ?? '';
    const marker = call.query.get('marker') ?? '';
    const listing = await call.objects.listObjects({ bucket: call.bucket, prefix, delimiter, after: marker, limit });
    const next = limit === 0 ? undefined : listing.next;
    return xmlAnswer(
      xmlDocument('ListBucketResult', [
        element('Name', call.bucket),
        element('Prefix', encoding.encode(prefix)),
        element('Marker', encoding.encode(marker)),
        keyElement('NextMarker', next, encoding),
        element('MaxKeys', limit),
        keyElement('Delimiter', delimiter, encoding),
        encoding.told,
        element('IsTruncated', next !== undefined),
        ...objectElements(listing.objects, { name: 'Contents', encoding, owner: true }),
        ...commonPrefixes(listing.commonPrefixes, encoding),
      ]),
    );
  },
};
