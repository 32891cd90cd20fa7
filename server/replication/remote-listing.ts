import { child, readXml, requiredText, textOf, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import type { BatchVersion } from '../maintenance/batch/batch-remote.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';

interface RemoteListing {
  readonly versions: readonly BatchVersion[];
  readonly next?: { readonly key: string; readonly versionId?: string };
}

const maxListingBytes = 1024 * 1024;

/** Reads the answer of `ListObjectVersions` with keys in URL encoding. Throws `DeliveryError`. */
export function readVersionListing(document: string): RemoteListing {
  try {
    const root = readXml(document, { maxBytes: maxListingBytes, root: 'ListVersionsResult' });
    const versions = root.children.filter(({ name }) => name === 'Version' || name === 'DeleteMarker').map(versionOf);
    if (textOf(root, 'IsTruncated') !== 'true') return { versions };
    const versionId = textOf(root, 'NextVersionIdMarker');
    return { versions, next: { key: plain(requiredText(root, 'NextKeyMarker')), ...(versionId && { versionId }) } };
  } catch (error) {
    if (!(error instanceof S3Error || error instanceof URIError)) throw error;
    throw new DeliveryError('unavailable', `the listing of the other server is malformed: ${error.message}`, {
      cause: error,
    });
  }
}

function versionOf(node: XmlNode): BatchVersion {
  const deleteMarker = node.name === 'DeleteMarker';
  return {
    key: plain(requiredText(node, 'Key')),
    // Servers without versions leave it out, or empty.
    versionId: child(node, 'VersionId')?.text || 'null',
    isLatest: textOf(node, 'IsLatest') === 'true',
    deleteMarker,
    size: deleteMarker ? 0 : Number(requiredText(node, 'Size')),
    modified: Date.parse(requiredText(node, 'LastModified')),
    etag: (textOf(node, 'ETag') ?? '').replaceAll('"', ''),
  };
}

function plain(encoded: string): string {
  return decodeURIComponent(encoded.replaceAll('+', ' '));
}
