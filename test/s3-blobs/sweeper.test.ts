import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { removeOrphanBlobs } from '../../server/objects/garbage-collection/garbage-collection.ts';
import { from, listed, someBlobId } from '../support/store/blob-store.conformance.ts';
import type { BlobId, BlobStore } from '../../server/store/blob-store.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import { openS3BlobStore } from '../../server/store/s3/blob-store.ts';
import { startS3Double, type S3Double } from '../support/s3/s3-double.ts';

const hour = 3_600_000;
let s3: S3Double;
let blobs: BlobStore;

beforeEach(async () => {
  s3 = await startS3Double();
  const log = createLogger({ name: 'test', level: 'silent' });
  const at = { endpoint: s3.endpoint, region: 'us-east-1', bucket: 'blobs', prefix: '' };
  blobs = await openS3BlobStore({ ...at, accessKey: 'KEY', secretKey: 'secret', log });
});
afterEach(() => s3.close());

function beginUpload(id: BlobId, ageMs: number): void {
  const begun = new Date(Date.now() - ageMs);
  s3.bucket.uploads.set(id, { key: `${id.slice(-2)}/${id}`, metadata: {}, begun, parts: new Map() });
}

it('ends uploads and removes blobs in another S3 that nobody came back for, and those alone', async () => {
  const [oldUpload, newUpload, oldBlob, newBlob] = [someBlobId(), someBlobId(), someBlobId(), someBlobId()];
  beginUpload(oldUpload, 25 * hour);
  beginUpload(newUpload, 23 * hour);
  s3.bucket.ageMs = 25 * hour;
  await blobs.write(oldBlob, from([Buffer.from('old')]));
  s3.bucket.ageMs = 0;
  await blobs.write(newBlob, from([Buffer.from('new')]));
  // The records have to be without them for a day, too.
  const records = new MemoryRecordStore();
  const now = Date.now();
  expect(await removeOrphanBlobs({ records, blobs, now })).toEqual({ removed: 0 });
  expect(await removeOrphanBlobs({ records, blobs, now: now + 24 * hour })).toEqual({ removed: 2 });
  expect([...s3.bucket.uploads.keys()]).toEqual([newUpload]);
  expect((await listed(blobs)).toSorted()).toEqual([newUpload, newBlob].toSorted());
});
