import { isVersionId, orderOfMarker } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, isoTime, markup, xmlAll, xmlDocument, xmlText, type Xml } from '../../../protocol/s3/xml-writer.ts';
import type { ListedVersion } from '../../objects/contract/object-layer.ts';
import { xmlAnswer } from '../answers.ts';
import {
  checksumMarkup,
  commonPrefixes,
  keyElement,
  type KeyEncoding,
  keyEncoding,
  ownerElement,
  pageSize,
  storageClassElement,
} from '../listing.ts';
import { asksForMetadata } from './listed-metadata.ts';
import { asksForRestoreStatus, furtherElements } from './optional-attributes.ts';
import type { Operation } from '../operation.ts';
import type { Query } from '../request.ts';

/**
 * Versions and delete markers come in one order: keys by their UTF-8 bytes, the versions of a key from the newest to the oldest.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html
 */
export const listObjectVersions: Operation = {
  name: 'ListObjectVersions',
  action: 's3:ListBucketVersions',
  async handle(call) {
    const { bucket, query } = call;
    const limit = pageSize(call, 'max-keys');
    const { keyMarker, versionIdMarker } = markers(query);
    const encoding = keyEncoding(call);
    const prefix = query.get('prefix') ?? '';
    const delimiter = query.get('delimiter') ?? '';
    const wanted = { metadata: asksForMetadata(query), restoreStatus: asksForRestoreStatus(call) };
    const listing = await call.objects.listObjectVersions({
      bucket,
      prefix,
      delimiter,
      keyMarker,
      versionIdMarker,
      limit,
      details: wanted.metadata || wanted.restoreStatus,
      owners: true,
    });
    const more = await furtherElements(call, listing.versions, wanted);
    const next = limit === 0 ? undefined : listing.next;
    return xmlAnswer(
      xmlDocument('ListVersionsResult', [
        element('Name', bucket),
        element('Prefix', encoding.encode(prefix)),
        element('KeyMarker', encoding.encode(keyMarker)),
        element('VersionIdMarker', versionIdMarker ?? ''),
        keyElement('NextKeyMarker', next?.key, encoding),
        next?.versionId === undefined ? undefined : element('NextVersionIdMarker', next.versionId),
        element('MaxKeys', limit),
        keyElement('Delimiter', delimiter, encoding),
        encoding.element,
        element('IsTruncated', next !== undefined),
        ...listing.versions.map((version) => versionElement(version, encoding, more?.get(version))),
        ...commonPrefixes(listing.commonPrefixes, encoding),
      ]),
    );
  },
};

/** @throws S3Error InvalidArgument with the texts of AWS */
function markers(query: Query): { readonly keyMarker: string; readonly versionIdMarker: string | undefined } {
  const keyMarker = query.get('key-marker') ?? '';
  const versionIdMarker = query.get('version-id-marker');
  // Programs that page by both markers send them empty for the first page.
  const isFirst = versionIdMarker === '' && query.get('key-marker') === '';
  if (versionIdMarker === undefined || isFirst) return { keyMarker, versionIdMarker: undefined };
  if (keyMarker === '') throw invalid('A version-id marker cannot be specified without a key marker.', versionIdMarker);
  if (versionIdMarker === '') throw invalid('A version-id marker cannot be empty.', versionIdMarker);
  if (!isVersionId(versionIdMarker) && orderOfMarker(versionIdMarker) === undefined)
    throw invalid('Invalid version id specified', versionIdMarker);
  return { keyMarker, versionIdMarker };
}

function invalid(message: string, value: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: 'version-id-marker', ArgumentValue: value.slice(0, 100) },
  });
}

const none = xmlText('');
const yes = xmlText('true');
const no = xmlText('false');

function versionElement(version: ListedVersion, encoding: KeyEncoding, more: readonly Xml[] | undefined): Xml {
  const { key, versionId, isLatest, modified, deleteMarker } = version;
  const place = markup`<Key>${xmlText(encoding.encode(key))}</Key><VersionId>${xmlText(versionId)}</VersionId><IsLatest>${isLatest ? yes : no}</IsLatest><LastModified>${isoTime(modified)}</LastModified>`;
  if (deleteMarker) return markup`<DeleteMarker>${place}${ownerElement(undefined)}</DeleteMarker>`;
  const { etag, checksum, size, storageClass } = version;
  const checksums = checksum === undefined ? none : checksumMarkup(checksum);
  return markup`<Version>${place}<ETag>&quot;${xmlText(etag)}&quot;</ETag>${checksums}<Size>${size}</Size>${ownerElement(version.owner)}${storageClassElement(storageClass)}${more === undefined ? none : xmlAll(more)}</Version>`;
}
