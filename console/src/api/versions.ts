import { copyVersion } from './copies.ts';
import { childrenOf, decoded, s3, s3Document, sendForHeaders, textIn } from './s3.ts';

/** A version or a delete marker of a key. */
export interface VersionRow {
  readonly kind: 'version' | 'marker';
  readonly key: string;
  readonly versionId: string;
  readonly isLatest: boolean;
  readonly lastModified: string;
  /** Bytes; 0 for a delete marker. */
  readonly size: number;
  readonly etag: string;
}

export interface VersionPage {
  readonly folders: readonly string[];
  readonly versions: readonly VersionRow[];
  /** The `cursor` of the next page. */
  readonly next?: string;
}

interface VersionQuery {
  readonly prefix: string;
  /** `/` for one folder; empty for all keys with the prefix. */
  readonly delimiter: string;
  /** The `next` of the previous page, or empty. */
  readonly cursor: string;
  readonly signal?: AbortSignal;
}

/** Lists versions from the newest to the oldest of each key. @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html */
export async function listVersions(
  bucket: string,
  { prefix, delimiter, cursor, signal }: VersionQuery,
): Promise<VersionPage> {
  const [keyMarker, versionMarker] = cursor === '' ? [] : (JSON.parse(cursor) as [string, string?]);
  const root = await s3Document('GET', bucket, {
    query: {
      versions: '',
      prefix,
      delimiter: delimiter === '' ? undefined : delimiter,
      // Keys may have characters that XML cannot.
      'encoding-type': 'url',
      'max-keys': '1000',
      'key-marker': keyMarker,
      'version-id-marker': versionMarker,
    },
    signal,
  });
  const versions = [...root.children].flatMap((element) => versionOf(element) ?? []);
  const folders = childrenOf(root, 'CommonPrefixes').map((element) => decoded(textIn(element, 'Prefix')));
  if (textIn(root, 'IsTruncated') !== 'true') return { folders, versions };
  const next = [decoded(textIn(root, 'NextKeyMarker')), textIn(root, 'NextVersionIdMarker')];
  return { folders, versions, next: JSON.stringify(next) };
}

function versionOf(element: Element): VersionRow | undefined {
  if (element.localName !== 'Version' && element.localName !== 'DeleteMarker') return undefined;
  return {
    kind: element.localName === 'Version' ? 'version' : 'marker',
    key: decoded(textIn(element, 'Key')),
    versionId: textIn(element, 'VersionId') ?? 'null',
    isLatest: textIn(element, 'IsLatest') === 'true',
    lastModified: textIn(element, 'LastModified') ?? '',
    size: Number(textIn(element, 'Size') ?? 0),
    etag: (textIn(element, 'ETag') ?? '').replaceAll('"', ''),
  };
}

/** Makes a version the current one, by a copy that is equal to it: the versions between stay. */
export async function restoreVersion(bucket: string, { key, versionId }: VersionRow): Promise<void> {
  await copyVersion(sendForHeaders, { bucket, key, versionId });
}

/** Removes a version for good, or a delete marker, after which the version before it is current again. */
export async function deleteVersion(bucket: string, { key, versionId }: VersionRow, bypass = false): Promise<void> {
  await s3('DELETE', bucket, {
    key,
    query: { versionId },
    headers: bypass ? { 'x-amz-bypass-governance-retention': 'true' } : {},
  });
}
