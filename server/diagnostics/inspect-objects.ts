import type { ZipEntry } from '../administration/zip.ts';
import type { ListedVersion, ObjectLayer } from '../objects/contract/object-layer.ts';
import type { ObjectRecord } from '../objects/records/object-record.ts';
import { isUnreadable } from '../objects/records/damage.ts';
import type { RecordStore } from '../store/record-store.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { matches, parsePattern } from '../../protocol/policy/glob.ts';
import { adminError } from '../administration/admin-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';
import { findVersion } from '../objects/versions/find-version.ts';

const maxVersions = 10_000;
/** Versions that are looked at for the pattern. */
const maxListed = 1_000_000;
const pageSize = 1_000;
/** The file of a drive that clients name at the end of a path. Here a version is one record. */
const driveFile = /\/(?:xl\.meta|record\.json)$/;

/**
 * Describes the records of the versions whose key matches the pattern: `*` matches any text. Each version is a file of JSON. Bytes of
 * objects, sealed keys, digests of encrypted content and the values of metadata and tags are left out.
 */
export async function inspectObjects(
  objects: Pick<ObjectLayer, 'listObjectVersions'>,
  records: RecordStore,
  { bucket, pattern: asked }: { readonly bucket: string; readonly pattern: string },
): Promise<readonly ZipEntry[]> {
  const text = asked.replace(driveFile, '').replaceAll(/\*+/g, '*');
  const pattern = parsePattern(text);
  const prefix = /^[^*?]*/.exec(text)?.[0] ?? '';
  const entries: ZipEntry[] = [];
  let listed = 0;
  let marker: { readonly key: string; readonly versionId?: string } | undefined = { key: '' };
  while (marker !== undefined) {
    const page = await objects.listObjectVersions({
      bucket,
      prefix,
      delimiter: '',
      keyMarker: marker.key,
      versionIdMarker: marker.versionId,
      limit: pageSize,
    });
    listed += page.versions.length;
    for (const version of page.versions.filter(({ key }) => matches(pattern, key))) {
      if (entries.length >= maxVersions || listed > maxListed) throw tooMany(entries.length);
      entries.push(await entryOf(records, bucket, version));
    }
    marker = page.next;
  }
  if (entries.length === 0)
    throw new S3Error('NoSuchKey', `No key of ${bucket} matches ${JSON.stringify(text.slice(0, 200))}.`);
  return entries;
}

function tooMany(found: number): RequestError {
  return adminError(
    'XMinioAdminInvalidArgument',
    found >= maxVersions
      ? `More than ${maxVersions} versions match: name fewer.`
      : `More than ${maxListed} versions begin like the pattern: name a longer prefix.`,
  );
}

async function entryOf(records: RecordStore, bucket: string, version: ListedVersion): Promise<ZipEntry> {
  const { key, versionId } = version;
  const name = `${bucket}/${safeName(key)}/${versionId}.json`;
  let shown: object;
  try {
    const found = await findVersion({ records }, bucket, key, versionId);
    shown = found === undefined ? { key, versionId, gone: true } : shownRecord(key, versionId, found.stored.record);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    shown = { key, versionId, damaged: error instanceof Error ? error.message : String(error) };
  }
  return { name, content: Buffer.from(`${JSON.stringify(shown, undefined, 2)}\n`) };
}

/** Names of files have no empty, `.` or `..` segments, which unpacking programs refuse or follow. */
function safeName(key: string): string {
  return key
    .split('/')
    .map((segment) => (/^\.{0,2}$/.test(segment) ? `%${segment}` : segment.replaceAll('\\', '%5C')))
    .join('/');
}

function shownRecord(key: string, versionId: string, record: ObjectRecord): object {
  const { id, modified, size, etag, headers, body, sealed, checksum, damage, deleteMarker } = record;
  const { tags, lock, replication, restore, acl } = record;
  const { metadata, ...standard } = headers;
  return {
    key,
    versionId,
    id,
    modified: new Date(modified).toISOString(),
    size,
    // The digest of encrypted content reveals it.
    ...(typeof etag === 'string' && sealed === undefined && { etag }),
    headers: standard,
    metadataNames: Object.keys(metadata),
    tagNames: Object.keys(tags ?? {}),
    body: { ...body, ...('salt' in body && { salt: undefined }) },
    ...(checksum !== undefined && { checksumType: 'type' in checksum ? checksum.type : undefined }),
    ...(sealed !== undefined && {
      encryption: { scheme: sealed.scheme, ...('keyName' in sealed && { keyName: sealed.keyName }) },
    }),
    ...(damage && { damage: { ...damage, found: new Date(damage.found).toISOString() } }),
    ...(deleteMarker && { deleteMarker }),
    ...(lock && { lock }),
    ...(replication && { replication }),
    ...(restore && { restore }),
    hasAcl: acl !== undefined,
  };
}
