import type { ObjectInfo } from '../../objects/contract/object-layer.ts';
import { headerOf } from '../attributes-of-info.ts';
import { copyHeaders } from '../replica-request.ts';

/**
 * The name of the user metadata that says of which version an object is a copy. By it a delivery that is repeated finds its copy, and a
 * change of tags or of the lock finds the version that it changes.
 */
const markName = 'x-amz-meta-coffer-version-id';
/** Bytes of the names and values of user metadata. AWS takes no more. */
const maxMetadata = 2_048;
const markLength = 32;

/**
 * Returns the mark of a version: its id, which begins with its time. The null version has no id: its mark has its time. Of two versions of
 * a key, the newer one has the greater mark.
 */
export function markOf(versionId: string, modified: Date): string {
  return versionId === 'null' ? `${modified.getTime().toString(16).padStart(12, '0')}null` : versionId;
}

/** Reads the mark of a copy from the headers of its answer. */
export function markOfCopy(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | undefined {
  const mark = headers[markName];
  return typeof mark === 'string' && /^[0-9a-f]{12}(?:[0-9a-f]{20}|null)$/.test(mark) ? mark : undefined;
}

/**
 * Reports whether the metadata of a version leaves space for the mark. The prefix of the name counts here, since the limit of another S3 may
 * count it.
 */
export function takesMark({ metadata }: Pick<ObjectInfo, 'metadata'>): boolean {
  const size = Object.entries(metadata).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return size + markName.length + markLength <= maxMetadata;
}

/**
 * Reports whether the headers of a copy without a mark are those of a version that takes none: the same size and user metadata, of nearly
 * 2 KiB, and the same ETag where both have the MD5 of the body.
 */
export function isUnmarkedCopy(
  info: ObjectInfo,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): boolean {
  if (takesMark(info) || Number(headers['content-length']) !== info.size) return false;
  const { etag = '' } = headers;
  const bothMd5 = [info.etag, String(etag).replaceAll('"', '')].filter((one) => /^[0-9a-f]{32}$/.test(one));
  const isEncrypted = info.encryption !== undefined || headers['x-amz-server-side-encryption'] === 'aws:kms';
  if (bothMd5.length === 2 && !isEncrypted && bothMd5[0] !== bothMd5[1]) return false;
  const prefix = 'x-amz-meta-';
  const there = Object.entries(headers).filter(([name]) => name.startsWith(prefix));
  return (
    there.length === Object.keys(info.metadata).length &&
    there.every(([name, value]) => {
      const own = info.metadata[name.slice(prefix.length)];
      return own !== undefined && (own === value || headerOf(own, 'words') === value);
    })
  );
}

/**
 * Returns the headers of a version for an S3 server without the extensions of MinIO. Metadata that leaves no space for the mark is sent
 * without it.
 */
export function plainHeaders(
  info: ObjectInfo,
  storageClass: string | undefined,
  now = Date.now(),
): Record<string, string> {
  const mark = markOf(info.versionId ?? 'null', info.lastModified);
  const { [markName]: _older, ...headers } = copyHeaders(info, storageClass, now);
  return { ...headers, ...(takesMark(info) && { [markName]: mark }) };
}
