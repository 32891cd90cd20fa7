import { crc32 } from 'node:zlib';
import { guardBucket } from '../bucket-guard.ts';
import { type Change, ChangedMeanwhile, commitChange } from '../commit-change.ts';
import { checkWriteConditions } from '../conditions.ts';
import { checkBlocked } from '../decide-encryption.ts';
import type { Environment } from '../environment.ts';
import type { CompleteMultipartUpload, ObjectInfo } from '../object-layer.ts';
import { encodeBody } from '../records/body-record.ts';
import { getBucket, noSuchBucket } from '../records/bucket-record.ts';
import { encodeManifest } from '../records/manifest.ts';
import { decodeObject, encodeObject, objectInfo, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-keys.ts';
import {
  decodeUpload,
  endUpload,
  findUpload,
  noSuchUpload,
  partsOf,
  type StoredPart,
  type StoredUpload,
  uploadRecordKey,
} from '../records/upload-record.ts';
import { readManifest, supersedeObject } from '../supersede-object.ts';
import { checkChecksumMode, checksumOfParts, checkWholeObject, chooseParts, etagOfParts } from './choose-parts.ts';

/**
 * Writes a manifest of the parts; no byte is copied. Parts that are not listed are left to the sweeper. Repeated after its answer
 * was lost, it answers the same.
 */
export async function completeMultipartUpload(
  environment: Environment,
  request: CompleteMultipartUpload,
): Promise<ObjectInfo> {
  await environment.checkSpace(0);
  return commitChange(environment, () => plan(environment, request));
}

async function plan(environment: Environment, request: CompleteMultipartUpload): Promise<Change<ObjectInfo>> {
  const { bucket, key, uploadId } = request;
  const { stored, current, upload } = await readAtOnce(environment, request);
  // Only the completion of this upload makes an object with its id: this request was repeated, or another one did it meanwhile.
  if (current?.record.id === uploadId) return completedBefore(environment, request, current.record);
  if (upload === undefined) throw noSuchUpload(uploadId);
  checkBlocked(upload.record.sealed?.scheme, stored.record.encryption);
  checkWriteConditions(request.conditions, current?.record);
  checkChecksumMode(upload.record.checksum, request);
  const parts = await listedParts(environment, request, upload);
  const checksum = checksumOfParts(upload.record.checksum, parts);
  const size = parts.reduce((sum, part) => sum + part.record.size, 0);
  checkWholeObject(request, { size, checksum });
  const manifest = manifestOf(parts);
  const record: ObjectRecord = {
    id: uploadId,
    modified: environment.clock(),
    size,
    etag: etagOfParts(parts.map((part) => part.record.etag)),
    headers: upload.record.headers,
    body: { kind: 'parts', count: parts.length, crc: crc32(manifest) },
    ...(upload.record.sealed && { sealed: upload.record.sealed }),
    ...(checksum && { checksum }),
  };
  const recordKey = recordKeys.upload(bucket, key, uploadId);
  const guard = guardBucket(bucket, stored);
  const superseded = await supersedeObject(environment, bucket, key, current, 'parts');
  const ended = endUpload({ recordKey, uploadId });
  return {
    batch: {
      expect: [
        ...guard.expect,
        ...superseded.expect,
        { kind: 'revision', key: recordKey, revision: upload.revision },
        // A part uploaded again at this moment is another part: its old blob is on its way out.
        ...parts.map((part) => ({ kind: 'revision' as const, key: part.key, revision: part.revision })),
      ],
      put: [
        ...guard.put,
        ...superseded.put,
        ...ended.put,
        { key: recordKeys.object(bucket, key), value: encodeObject(record) },
        { key: recordKeys.manifest(bucket, key), value: encodeBody(uploadId, manifest) },
      ],
      delete: [...superseded.delete, ...ended.delete, ...parts.map((part) => part.key)],
    },
    result: objectInfo(bucket, key, record),
  };
}

/** The bucket, what is under the key, and the upload, as they were at one moment. Throws `NoSuchBucket`. */
async function readAtOnce(environment: Environment, { bucket, key, uploadId }: CompleteMultipartUpload) {
  const upload = uploadRecordKey(bucket, key, uploadId);
  if (upload === undefined) {
    await getBucket(environment.records, bucket);
    throw noSuchUpload(uploadId);
  }
  const [bucketEntry, object, uploadEntry] = await environment.records.getAll([
    recordKeys.bucket(bucket),
    recordKeys.object(bucket, key),
    upload,
  ]);
  if (bucketEntry === undefined) throw noSuchBucket(bucket);
  return {
    stored: environment.buckets.decode(bucketEntry, bucket),
    current: object && { record: decodeObject(object.value, bucket, key), revision: object.revision },
    upload: uploadEntry && {
      record: decodeUpload(uploadEntry.value, uploadId),
      revision: uploadEntry.revision,
    },
  };
}

/** The same answer as the first time to who lists the same parts. Throws `NoSuchUpload`: for any others there is no upload any more. */
async function completedBefore(
  environment: Environment,
  request: CompleteMultipartUpload,
  record: ObjectRecord,
): Promise<Change<ObjectInfo>> {
  const { bucket, key, uploadId, parts } = request;
  const manifest = await readManifest(environment, bucket, key, record);
  if (manifest === undefined) throw new ChangedMeanwhile();
  const sameNumbers =
    manifest.length === parts.length && manifest.every(({ number }, index) => number === parts[index]?.partNumber);
  if (!sameNumbers || etagOfParts(parts.map(({ etag }) => etag)) !== record.etag) throw noSuchUpload(uploadId);
  checkWholeObject(request, { size: record.size, checksum: record.checksum });
  return { result: objectInfo(bucket, key, record) };
}

/**
 * A completion or an abort that comes in between takes the parts away, and a request must not be refused for that: what is wrong with
 * its parts counts only while the upload is there.
 */
async function listedParts(
  { records }: Environment,
  { bucket, key, uploadId, parts }: CompleteMultipartUpload,
  upload: StoredUpload,
): Promise<readonly StoredPart[]> {
  const uploaded = new Map<number, StoredPart>();
  for await (const part of partsOf(records, uploadId)) uploaded.set(part.number, part);
  try {
    return chooseParts(parts, uploaded);
  } catch (error) {
    const still = await findUpload(records, bucket, key, uploadId);
    if (still?.revision !== upload.revision) throw new ChangedMeanwhile('the upload ended', { cause: error });
    throw error;
  }
}

function manifestOf(parts: readonly StoredPart[]): Buffer {
  return encodeManifest(
    parts.map(({ number, record }) => ({
      number,
      blob: record.blob,
      size: record.size,
      protection: record.protection,
      ...(record.checksum && { checksum: record.checksum.value }),
    })),
  );
}
