import type { ObjectContext } from '../context/context.ts';
import { openDigests } from '../encryption/digests.ts';
import type { Checksum, ObjectPart, ReadOptions } from '../contract/object-layer.ts';
import type { ObjectRecord } from '../records/object-record.ts';
import type { ManifestPart } from '../records/body-records.ts';
import type { StoredChecksum } from '../records/stored-digests.ts';
import type { VersionPlace } from '../records/version-place.ts';
import { readManifest } from '../records/manifest.ts';

/**
 * Reads parts of a multipart object with their checksums. Parts count from 1 without gaps, whatever numbers the upload gave them: a
 * client that reads part by part knows only their count. Returns undefined when the object was replaced since its record was read.
 *
 * @param objectKey the key of an SSE-C object, which seals the checksums of its parts
 * @throws StoreError
 */
export async function readPartPage(
  context: ObjectContext,
  place: VersionPlace,
  record: ObjectRecord,
  { after, limit, objectKey }: NonNullable<ReadOptions['parts']> & { readonly objectKey: Buffer | undefined },
): Promise<readonly ObjectPart[] | undefined> {
  const manifest = await readManifest(context, place, record);
  if (manifest === undefined) return undefined;
  let start = manifest.slice(0, after).reduce((sum, { size }) => sum + size, 0);
  const page: ObjectPart[] = [];
  for (const [index, part] of manifest.slice(after, after + limit).entries()) {
    const owner = { bucket: place.bucket, id: record.id, part: part.number };
    const stored = storedChecksum(part, record.checksum?.algorithm);
    const { checksum } = stored ? await openDigests(context, owner, { etag: '', checksum: stored }, objectKey) : {};
    page.push({ number: after + index + 1, start, size: part.size, ...(checksum && { checksum }) });
    start += part.size;
  }
  return page;
}

/** Only parts of an object with a checksum have one of a known algorithm. That of a part is always of the whole part. */
function storedChecksum(
  { checksum }: ManifestPart,
  algorithm: Checksum['algorithm'] | undefined,
): StoredChecksum | undefined {
  if (checksum === undefined || algorithm === undefined) return undefined;
  const type = 'FULL_OBJECT';
  return typeof checksum === 'string' ? { algorithm, type, value: checksum } : { algorithm, type, ...checksum };
}
