import type { CustomerKey } from '../../encryption/customer-key.ts';
import { openUploadSealed } from '../customer-sealed.ts';
import type { Environment } from '../environment.ts';
import type { ObjectEncryption } from '../object-layer.ts';
import { shownEncryption } from '../records/object-record.ts';
import { getUpload } from '../records/upload-record.ts';

/** Throws `NoSuchUpload`, and `InvalidRequest` where `customerKey` is given and not that of the upload. */
export async function uploadEncryption(
  environment: Environment,
  bucket: string,
  key: string,
  uploadId: string,
  customerKey?: CustomerKey,
): Promise<ObjectEncryption | undefined> {
  const { record } = await getUpload(environment.records, bucket, key, uploadId);
  if (customerKey !== undefined) openUploadSealed(record.sealed, { bucket, key, id: uploadId }, customerKey);
  return record.sealed && shownEncryption(record.sealed);
}
