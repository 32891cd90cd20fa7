import { decodeKey, within } from '../../store/keys.ts';
import type { ObjectContext } from '../context/context.ts';
import { uploadBytes } from '../quota/upload-bytes.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import type { StoredBucket } from '../records/bucket-record.ts';
import { decodeUpload, endUpload, type UploadRecord } from '../records/upload-record.ts';
import { NULL_VERSION } from '../versions/find-version.ts';

/** Uploads that a commit ends. */
export interface EndedUploads {
  readonly changes: BatchChanges;
  /** The bytes of their parts, in a bucket with a quota. */
  readonly bytes: number;
}

export const noUploads: EndedUploads = { changes: { expect: [], put: [], delete: [] }, bytes: 0 };

/** A version of another server. `modified` is in milliseconds since 1970. */
type ArrivingVersion = Pick<NonNullable<UploadRecord['replica']>, 'versionId' | 'modified'>;

/**
 * Returns the changes that end the uploads by which other servers send a version that is here, or was removed. A server that was killed while it
 * sent the version began another upload afterwards, and knows nothing of the first. Uploads of clients go on. `own` is the upload that completes.
 */
export async function endOtherUploads(
  context: ObjectContext,
  { bucket, key, stored }: { readonly bucket: string; readonly key: string; readonly stored: StoredBucket },
  version: ArrivingVersion,
  own?: string,
): Promise<EndedUploads> {
  const expect = [];
  const put = [];
  const deleted = [];
  let bytes = 0;
  for await (const item of context.records.scan(within('u', bucket, key))) {
    if (item.kind !== 'entry') continue;
    const uploadId = String(decodeKey(item.key)[3]);
    if (uploadId === own || !isSame(decodeUpload(item.value, uploadId).replica, version)) continue;
    const ended = endUpload({ recordKey: item.key, uploadId });
    const uploaded = stored.record.quota === undefined ? undefined : await uploadBytes(context, uploadId);
    bytes += uploaded?.bytes ?? 0;
    expect.push({ kind: 'revision' as const, key: item.key, revision: item.revision }, ...(uploaded?.expect ?? []));
    put.push(...ended.put);
    deleted.push(...ended.delete);
  }
  return { changes: { expect, put, delete: deleted }, bytes };
}

/** Null versions of different times are different versions. */
function isSame(replica: UploadRecord['replica'], { versionId, modified }: ArrivingVersion): boolean {
  if (replica?.versionId !== versionId) return false;
  return versionId !== NULL_VERSION || replica.modified === modified;
}
