import type { RecordStore } from '../../store/record-store.ts';
import type { VersionPlace } from './version-place.ts';
import type { ObjectRecord } from './object-record.ts';
import type { ManifestPart } from './body-records.ts';
import { recordKeys, decodeBody } from './record-format.ts';
import { decodeManifest } from './body-records.ts';

/** Returns undefined when the manifest belongs to another object: the object was replaced since its record was read. */
export async function readManifest(
  { records }: { readonly records: Pick<RecordStore, 'get'> },
  { bucket, key, order }: VersionPlace,
  { id, body }: ObjectRecord,
): Promise<readonly ManifestPart[] | undefined> {
  const entry = await records.get(recordKeys.manifest(bucket, key, order));
  const bytes = entry && decodeBody(entry.value, id);
  return bytes && decodeManifest(bytes, body.kind === 'parts' ? body.crc : undefined);
}
