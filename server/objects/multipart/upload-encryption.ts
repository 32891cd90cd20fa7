import type { Environment } from '../environment.ts';
import type { ObjectEncryption } from '../object-layer.ts';
import { shownEncryption } from '../records/object-record.ts';
import { getUpload } from '../records/upload-record.ts';

/** Throws `NoSuchUpload`. */
export async function uploadEncryption(
  environment: Environment,
  bucket: string,
  key: string,
  uploadId: string,
): Promise<ObjectEncryption | undefined> {
  const { record } = await getUpload(environment.records, bucket, key, uploadId);
  return record.sealed && shownEncryption(record.sealed);
}
