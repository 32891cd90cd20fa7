import { after, decodeKey, endOf, key as recordKey, partialPrefix } from '../../store/keys.ts';
import type { ObjectContext } from '../context.ts';
import type { ListMultipartUploads, UploadListing } from '../object-layer.ts';
import { getBucket } from '../records/bucket-record.ts';
import { decodeUpload, shownUpload } from '../records/upload-record.ts';

type Mutable = { uploads: UploadListing['uploads'][number][]; commonPrefixes: string[] };

/**
 * Lists uploads by key, then by time. Groups are made here and not by `collapse` of the engine: the upload id follows the key, and a
 * delimiter must not match in it.
 */
export async function listMultipartUploads(
  context: ObjectContext,
  request: ListMultipartUploads,
): Promise<UploadListing> {
  const { bucket, prefix, delimiter, limit } = request;
  await getBucket(context.records, bucket);
  const listing: Mutable = { uploads: [], commonPrefixes: [] };
  if (limit <= 0) return listing;
  const bytes = partialPrefix('u', bucket, prefix);
  const end = endOf(bytes);
  let start: Buffer | undefined = startOf(request, bytes);
  let last = { key: '', uploadId: '' };
  while (start !== undefined && start.compare(end) < 0) {
    let groupEnd: Buffer | undefined;
    for await (const item of context.records.scan({ start, end, limit: limit + 1 })) {
      if (item.kind !== 'entry') continue;
      if (listing.uploads.length + listing.commonPrefixes.length === limit) return { ...listing, next: last };
      const [, , keyBytes, idBytes] = decodeKey(item.key);
      const key = String(keyBytes);
      const group = groupOf(key, prefix, delimiter);
      if (group !== undefined) {
        listing.commonPrefixes.push(group);
        last = { key: group, uploadId: '' };
        groupEnd = endOf(partialPrefix('u', bucket, group));
        break;
      }
      const uploadId = String(idBytes);
      last = { key, uploadId };
      listing.uploads.push({ ...last, ...shownUpload(decodeUpload(item.value, uploadId)) });
    }
    start = groupEnd;
  }
  return listing;
}

/** Returns the start of the scan: after an upload of a key, after all uploads of a key, or after a whole group. */
function startOf(request: ListMultipartUploads, prefixBytes: Buffer): Buffer {
  const { bucket, prefix, delimiter, afterKey, afterUploadId } = request;
  if (afterKey === '') return prefixBytes;
  const group = afterKey.startsWith(prefix) ? groupOf(afterKey, prefix, delimiter) : undefined;
  const start =
    group !== undefined
      ? endOf(partialPrefix('u', bucket, group))
      : afterUploadId === ''
        ? endOf(recordKey('u', bucket, afterKey))
        : after(recordKey('u', bucket, afterKey, afterUploadId));
  return start.compare(prefixBytes) > 0 ? start : prefixBytes;
}

function groupOf(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '') return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
}
