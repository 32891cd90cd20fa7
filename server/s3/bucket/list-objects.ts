import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { xmlAnswer } from '../answers.ts';
import { commonPrefixes, keyElement, keyEncoding, objectElements, pageSize } from '../listing.ts';
import { asksForMetadata } from './listed-metadata.ts';
import { asksForRestoreStatus, furtherElements } from './optional-attributes.ts';
import type { Operation } from '../operation.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

/**
 * The first version of the listing.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjects.html
 */
export const listObjects: Operation = {
  name: 'ListObjects',
  action: 's3:ListBucket',
  async handle(call) {
    const encoding = keyEncoding(call);
    const limit = pageSize(call, 'max-keys');
    const prefix = call.query.get('prefix') ?? '';
    const delimiter = call.query.get('delimiter') ?? '';
    const marker = call.query.get('marker') ?? '';
    const wanted = { metadata: false, restoreStatus: asksForRestoreStatus(call) };
    const details = wanted.restoreStatus;
    const place = { bucket: call.bucket, prefix, delimiter, after: marker };
    const listing = await call.objects.listObjects({ ...place, limit, details, owners: true });
    const more = await furtherElements(call, listing.objects, wanted);
    const next = limit === 0 ? undefined : listing.next;
    return xmlAnswer(
      xmlDocument('ListBucketResult', [
        element('Name', call.bucket),
        element('Prefix', encoding.encode(prefix)),
        element('Marker', encoding.encode(marker)),
        keyElement('NextMarker', next, encoding),
        element('MaxKeys', limit),
        keyElement('Delimiter', delimiter, encoding),
        encoding.element,
        element('IsTruncated', next !== undefined),
        ...objectElements(listing.objects, { name: 'Contents', encoding, owner: true, more }),
        ...commonPrefixes(listing.commonPrefixes, encoding),
      ]),
    );
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
export const listObjectsV2: Operation = {
  name: 'ListObjectsV2',
  action: 's3:ListBucket',
  async handle(call) {
    const { query } = call;
    const encoding = keyEncoding(call);
    const limit = pageSize(call, 'max-keys');
    const prefix = query.get('prefix') ?? '';
    const delimiter = query.get('delimiter') ?? '';
    const startAfter = query.get('start-after') ?? '';
    const token = query.get('continuation-token');
    const type = query.get('list-type');
    if (type !== '2') {
      throw new S3Error('InvalidArgument', 'Invalid List Type specified in Request', {
        details: { ArgumentName: 'list-type', ArgumentValue: (type ?? '').slice(0, 100) },
      });
    }
    const after = token === undefined ? startAfter : readToken(token);
    const wanted = { metadata: asksForMetadata(query), restoreStatus: asksForRestoreStatus(call) };
    const details = wanted.metadata || wanted.restoreStatus;
    const owners = query.get('fetch-owner') === 'true';
    const place = { bucket: call.bucket, prefix, delimiter, after };
    const listing = await call.objects.listObjects({ ...place, limit, details, owners });
    const next = limit === 0 ? undefined : listing.next;
    const more = await furtherElements(call, listing.objects, wanted);
    return xmlAnswer(
      xmlDocument('ListBucketResult', [
        element('Name', call.bucket),
        element('Prefix', encoding.encode(prefix)),
        token === undefined ? undefined : element('ContinuationToken', token),
        next === undefined ? undefined : element('NextContinuationToken', makeToken(next)),
        keyElement('StartAfter', startAfter, encoding),
        element('KeyCount', listing.objects.length + listing.commonPrefixes.length),
        element('MaxKeys', limit),
        keyElement('Delimiter', delimiter, encoding),
        encoding.element,
        element('IsTruncated', next !== undefined),
        ...objectElements(listing.objects, { name: 'Contents', encoding, owner: owners, more }),
        ...commonPrefixes(listing.commonPrefixes, encoding),
      ]),
    );
  },
};

/** Makes a continuation token. It is opaque to clients and safe in a URL, because keys may hold characters that a query string cannot. */
export function makeToken(after: string): string {
  return Buffer.from(after, 'utf8').toString('base64url');
}

/** @throws S3Error InvalidArgument when `makeToken` did not make the token */
export function readToken(token: string): string {
  const after = Buffer.from(token, 'base64url').toString('utf8');
  if (token !== '' && makeToken(after) === token) return after;
  throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect', {
    details: { ArgumentName: 'continuation-token' },
  });
}
