import { after, decodeKey, endOf, key as recordKey, partialPrefix } from '../../store/keys.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ListMultipartUploads, UploadListing } from '../contract/object-layer.ts';
import { getBucket } from '../records/bucket-record.ts';
import { decodeUpload, shownUpload } from '../records/upload-record.ts';

type Mutable = { uploads: UploadListing['uploads'][number][]; commonPrefixes: string[] };

/** The uploads of a group that are read before a new scan skips the others. A scan costs as much as some records. */
const readBeforeSkip = 16;

/**
 * Lists uploads by key, then by time. Groups are made here and not by `collapse` of the engine: the upload id follows the key, and a
 * delimiter must not match in it. An engine reads all records of a scan at once, so that a scan that skips a group is a short one: a page of
 * 1,000 groups else reads a million records.
 */
export async function listMultipartUploads(
  context: ObjectContext,
  request: ListMultipartUploads,
): Promise<UploadListing> {
  const { bucket, prefix, delimiter, limit } = request;
  const { record: bucketRecord } = await getBucket(context.records, bucket);
  const listing: Mutable = { uploads: [], commonPrefixes: [] };
  if (limit <= 0) return listing;
  const bytes = partialPrefix('u', bucket, prefix);
  const end = endOf(bytes);
  let start: Buffer | undefined = startOf(request, bytes);
  let last = { key: '', uploadId: '' };
  let inGroup = 0;
  let scanned = limit + 1;
  while (start !== undefined && start.compare(end) < 0) {
    let left = scanned;
    let lastRead: Buffer | undefined;
    let groupEnd: Buffer | undefined;
    for await (const item of context.records.scan({ start, end, limit: scanned })) {
      if (item.kind !== 'entry') continue;
      left -= 1;
      lastRead = item.key;
      const [, , keyBytes, idBytes] = decodeKey(item.key);
      const key = String(keyBytes);
      const group = groupOf(key, prefix, delimiter);
      if (group !== undefined && group === last.key && last.uploadId === '') {
        inGroup += 1;
        if (inGroup < readBeforeSkip) continue;
        groupEnd = endOf(partialPrefix('u', bucket, group));
        break;
      }
      if (listing.uploads.length + listing.commonPrefixes.length === limit) return { ...listing, next: last };
      inGroup = 0;
      if (group !== undefined) {
        listing.commonPrefixes.push(group);
        last = { key: group, uploadId: '' };
        continue;
      }
      const uploadId = String(idBytes);
      last = { key, uploadId };
      listing.uploads.push({ ...last, ...shownUpload(decodeUpload(item.value, uploadId), bucketRecord) });
    }
    const rest: Buffer | undefined = left > 0 || lastRead === undefined ? undefined : after(lastRead);
    start = groupEnd ?? rest;
    scanned = groupEnd === undefined ? Math.min(limit + 1, 2 * scanned) : 2 * readBeforeSkip;
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
