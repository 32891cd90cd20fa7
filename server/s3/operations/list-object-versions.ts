import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer } from '../answers.ts';
import { commonPrefixes, keyElement, keyEncoding, objectElements, pageSize } from '../listing.ts';
import type { Operation } from '../operation.ts';

/**
 * Buckets are not versioned: each object is its only version, `null`.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html
 */
export const listObjectVersions: Operation = {
  name: 'ListObjectVersions',
  action: 's3:ListBucketVersions',
  async handle(call) {
    const encoding = keyEncoding(call);
    const limit = pageSize(call, 'max-keys');
    const prefix = call.query.get('prefix') ?? '';
    const delimiter = call.query.get('delimiter') ?? '';
    const keyMarker = call.query.get('key-marker') ?? '';
    const versionMarker = call.query.get('version-id-marker') ?? '';
    if (versionMarker !== '' && (keyMarker === '' || versionMarker !== 'null')) {
      throw new S3Error(
        'InvalidArgument',
        keyMarker === ''
          ? 'A version-id marker cannot be specified without a key marker.'
          : 'Invalid version id specified.',
        { details: { ArgumentName: 'version-id-marker' } },
      );
    }
    const listing = await call.objects.listObjects({ bucket: call.bucket, prefix, delimiter, after: keyMarker, limit });
    const next = limit === 0 ? undefined : listing.next;
    return xmlAnswer(
      xmlDocument('ListVersionsResult', [
        element('Name', call.bucket),
        element('Prefix', encoding.encode(prefix)),
        element('KeyMarker', encoding.encode(keyMarker)),
        element('VersionIdMarker', versionMarker),
        keyElement('NextKeyMarker', next, encoding),
        next === undefined ? undefined : element('NextVersionIdMarker', 'null'),
        element('MaxKeys', limit),
        keyElement('Delimiter', delimiter, encoding),
        encoding.told,
        element('IsTruncated', next !== undefined),
        ...objectElements(listing.objects, { name: 'Version', encoding, owner: true, version: true }),
        ...commonPrefixes(listing.commonPrefixes, encoding),
      ]),
    );
  },
};
