import {
  decodePrefix,
  endOf,
  escape,
  partialPrefix,
  textAt,
  after as afterKey,
  key as recordKey,
} from '../../store/keys.ts';
import { scanPages } from '../../store/record-store.ts';
import { bucketSeal } from '../encryption/digests.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ListedObject, ListObjects, ObjectListing } from '../contract/object-layer.ts';
import { countsAcls, getBucket } from '../records/bucket-record.ts';
import { decodeListed, detailsOf, ownerOf } from '../records/listed-objects.ts';
import { SealedEtags } from '../records/sealed-etags.ts';

/** Lists keys and common prefixes in the order of their UTF-8 bytes; whole groups are skipped without being read. */
export async function listObjects(context: ObjectContext, request: ListObjects): Promise<ObjectListing> {
  const { bucket, limit } = request;
  const { record } = await getBucket(context.records, bucket);
  const owners = request.owners === true && countsAcls(record);
  const objects: ListedObject[] = [];
  const commonPrefixes: string[] = [];
  const range = scanRange(request);
  if (limit <= 0 || range === undefined) return { objects, commonPrefixes };
  const keyStart = recordKey('o', bucket).length;
  const sealed = new SealedEtags();
  let last = '';
  let next: string | undefined;
  // One more than the limit shows if there is more.
  pages: for await (const items of scanPages(context.records, { ...range, limit: limit + 1 })) {
    for (const item of items) {
      if (objects.length + commonPrefixes.length === limit) {
        next = last;
        break pages;
      }
      if (item.kind === 'group') {
        last = String(decodePrefix(item.prefix)[2]);
        commonPrefixes.push(last);
      } else {
        last = textAt(item.key, keyStart);
        const listed = decodeListed(item.value, bucket, last, sealed);
        // `sealed` keeps the listed object itself, to set its ETag later.
        if (request.details === true) Object.assign(listed, { details: detailsOf(item.value, bucket, last) });
        if (owners) Object.assign(listed, ownerOf(item.value, bucket, last));
        objects.push(listed);
      }
    }
  }
  if (sealed.count > 0) sealed.open(await bucketSeal(context, bucket), context.clock());
  return { objects, commonPrefixes, ...(next !== undefined && { next }) };
}

/** Returns undefined when no key with the prefix can follow `after`. */
function scanRange({ bucket, prefix, delimiter, after }: ListObjects) {
  const bytes = partialPrefix('o', bucket, prefix);
  const end = endOf(bytes);
  const start = after === '' ? bytes : startAfter(bucket, prefix, delimiter, after);
  const from = start.compare(bytes) > 0 ? start : bytes;
  if (from.compare(end) >= 0) return undefined;
  return { start: from, end, ...(delimiter !== '' && { collapse: { prefix: bytes, delimiter: escape(delimiter) } }) };
}

/** Returns the start of the scan: after a whole group when `after` is its name or a key inside it, else after the key. */
function startAfter(bucket: string, prefix: string, delimiter: string, after: string): Buffer {
  if (delimiter !== '' && after.startsWith(prefix)) {
    const at = after.indexOf(delimiter, prefix.length);
    if (at >= 0) return endOf(partialPrefix('o', bucket, after.slice(0, at + delimiter.length)));
  }
  return afterKey(recordKey('o', bucket, after));
}
