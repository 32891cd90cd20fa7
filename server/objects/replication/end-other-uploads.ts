import { decodeKey, within } from '../../store/keys.ts';
import type { Entry } from '../../store/record-store.ts';
import type { Change } from '../commit/commit-change.ts';
import type { LeftUploads } from '../contract/left-uploads.ts';
import type { ObjectContext } from '../context/context.ts';
import { countBytes } from '../quota/count-bytes.ts';
import { uploadBytes } from '../quota/upload-bytes.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import { guardBucket, type StoredBucket } from '../records/bucket-record.ts';
import { isUnreadable } from '../records/damage.ts';
import { decodeUpload, endUpload, type UploadRecord } from '../records/upload-record.ts';
import { NULL_VERSION } from '../versions/find-version.ts';
import { joined } from '../versions/move-object.ts';

/** Uploads that a commit ends. */
export interface EndedUploads {
  readonly changes: BatchChanges;
  /** The bytes of their parts, in a bucket with a quota. */
  readonly bytes: number;
  /** Undefined where there are none. */
  readonly left?: LeftUploads;
}

export const noUploads: EndedUploads = { changes: { expect: [], put: [], delete: [] }, bytes: 0 };

/** A version of another server. `modified` is in milliseconds since 1970. */
type ArrivingVersion = Pick<NonNullable<UploadRecord['replica']>, 'versionId' | 'modified'>;

interface UploadPlace {
  readonly bucket: string;
  readonly key: string;
  readonly stored: StoredBucket;
}

/**
 * Returns the changes that end the uploads by which other servers send a version that is here, or was removed. A server that was stopped or killed
 * while it sent the version began another upload afterwards, and knows nothing of the first. Uploads of clients go on, and so does the upload
 * `own`, which is being completed. An upload with a damaged record stays, and `coffer-store verify` names it.
 */
export async function endOtherUploads(
  context: ObjectContext,
  { bucket, key, stored }: UploadPlace,
  version: ArrivingVersion,
  own?: string,
): Promise<EndedUploads> {
  const ended: EndedUploads[] = [];
  for await (const item of context.records.scan(within('u', bucket, key))) {
    if (item.kind !== 'entry') continue;
    const uploadId = String(decodeKey(item.key)[3]);
    if (uploadId === own) continue;
    try {
      if (!isSame(decodeUpload(item.value, uploadId).replica, version)) continue;
      ended.push(await endOne(context, item, uploadId, stored));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
  }
  return {
    changes: {
      expect: ended.flatMap(({ changes }) => changes.expect),
      put: ended.flatMap(({ changes }) => changes.put),
      delete: ended.flatMap(({ changes }) => changes.delete),
    },
    bytes: ended.reduce((sum, { bytes }) => sum + bytes, 0),
    ...(ended.length > 0 && { left: { bucket, key, versionId: version.versionId, count: ended.length } }),
  };
}

async function endOne(
  context: ObjectContext,
  { key, revision }: Pick<Entry, 'key' | 'revision'>,
  uploadId: string,
  { record }: StoredBucket,
): Promise<EndedUploads> {
  const uploaded = record.quota === undefined ? undefined : await uploadBytes(context, uploadId);
  const expect = [{ kind: 'revision' as const, key, revision }, ...(uploaded?.expect ?? [])];
  return { changes: { expect, ...endUpload({ recordKey: key, uploadId }) }, bytes: uploaded?.bytes ?? 0 };
}

/** Returns the change that ends the uploads of a version of another server, and nothing else. */
export async function onlyEndUploads(
  context: ObjectContext,
  place: UploadPlace,
  version: ArrivingVersion,
): Promise<Change<undefined>> {
  const { changes, bytes, left } = await endOtherUploads(context, place, version);
  if (left === undefined) return { result: undefined };
  const batch = joined({ ...guardBucket(place.bucket, place.stored), delete: [] }, changes);
  return {
    batch: await countBytes(context, place, place.stored, -bytes, batch),
    result: undefined,
    leftUploads: left,
  };
}

/** Null versions of different times are different versions. */
function isSame(replica: UploadRecord['replica'], { versionId, modified }: ArrivingVersion): boolean {
  if (replica?.versionId !== versionId) return false;
  return versionId !== NULL_VERSION || replica.modified === modified;
}
