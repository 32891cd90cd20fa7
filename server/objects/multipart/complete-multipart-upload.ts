import { crc32 } from 'node:zlib';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { guardBucket } from '../bucket-guard.ts';
import { type Change, commitChange } from '../commit-change.ts';
import { checkWriteConditions } from '../conditions.ts';
import { checkBlocked } from '../decide-encryption.ts';
import type { Environment } from '../environment.ts';
import { findObject } from '../find-object.ts';
import type { Checksum, CompleteMultipartUpload, ObjectInfo } from '../object-layer.ts';
import { encodeBody } from '../records/body-record.ts';
import { getBucket } from '../records/bucket-record.ts';
import { encodeManifest } from '../records/manifest.ts';
import { encodeObject, objectInfo, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-keys.ts';
import { endUpload, findUpload, noSuchUpload, partsOf, type StoredPart } from '../records/upload-record.ts';
import { supersedeObject } from '../supersede-object.ts';
import { checksumOfParts, chooseParts, etagOfParts } from './choose-parts.ts';

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
  const { records } = environment;
  const stored = await getBucket(records, bucket);
  const current = await findObject(environment, bucket, key);
  const upload = await findUpload(records, bucket, key, uploadId);
  if (upload === undefined) {
    // Only the completion of this upload makes an object with its id.
    if (current?.record.id === uploadId) return { result: objectInfo(bucket, key, current.record) };
    throw noSuchUpload(uploadId);
  }
  checkBlocked(upload.record.sealed?.scheme, stored.record.encryption);
  checkWriteConditions(request.conditions, current?.record);
  const uploaded = new Map<number, StoredPart>();
  for await (const part of partsOf(records, uploadId)) uploaded.set(part.number, part);
  const parts = chooseParts(request.parts, uploaded);
  const checksum = checksumOfParts(upload.record.checksum, parts);
  compareChecksum(request.checksum, checksum);
  const manifest = manifestOf(parts);
  const record: ObjectRecord = {
    id: uploadId,
    modified: environment.clock(),
    size: parts.reduce((sum, part) => sum + part.record.size, 0),
    etag: etagOfParts(parts),
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

function compareChecksum(given: CompleteMultipartUpload['checksum'], computed: Checksum | undefined): void {
  if (given === undefined || computed === undefined) return;
  if (given.algorithm !== computed.algorithm || given.value !== computed.value) {
    throw new S3Error(
      'BadDigest',
      `The ${given.algorithm} that you specified, ${given.value.slice(0, 100)}, is not that of the parts, ${computed.value}.`,
    );
  }
}
