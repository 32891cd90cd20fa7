import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { put, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { versionsOf } from '../../../test/support/maintenance/versioned-layer.ts';
import { removeQueuedBlobs } from '../../objects/garbage-collection/garbage-collection.ts';
import { decodeObject, encodeObject } from '../../objects/records/object-record.ts';
import { commitOnce } from '../../store/commits.ts';
import { within } from '../../store/keys.ts';
import type { Issue } from './issue.ts';
import { entries } from './object-records.ts';
import { verifyStores } from './verify-stores.ts';

/** Small bodies are records, larger ones blobs: both move between the tables. */
const INLINE = 100;
const keys = ['a', 'b', 'a/b'];

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), size: fc.constantFrom(0, 10, 1_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete version' as const), at: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('multipart' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tag' as const), at: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('enable' as const, 'suspend' as const) }) },
);
const operations = fc.array(fc.tuple(fc.constantFrom(...keys), operation), { minLength: 5, maxLength: 30 });
type Operation = typeof operation extends fc.Arbitrary<infer Kind> ? Kind : never;

async function perform(test: TestLayer, key: string, done: Operation): Promise<void> {
  const { layer } = test;
  switch (done.kind) {
    case 'put':
      await layer.putObject(put('bucket', key, randomBytes(done.size)));
      return;
    case 'delete':
      await layer.deleteObject('bucket', key);
      return;
    case 'delete version':
    case 'tag': {
      const found = (await versionsOf(test, 'bucket')).filter((version) => version.key === key);
      const version = found[done.at % Math.max(1, found.length)];
      if (version === undefined) return;
      if (done.kind === 'delete version') await layer.deleteObject('bucket', key, { versionId: version.versionId });
      else if (!version.deleteMarker) await layer.putObjectTags('bucket', key, { a: 'b' }, version.versionId);
      return;
    }
    case 'multipart': {
      const { uploadId } = await layer.createMultipartUpload({ bucket: 'bucket', key, headers: { metadata: {} } });
      const { etag } = await layer.putPart({ ...put('bucket', key, 'a part'), uploadId, partNumber: 1 });
      await layer.completeMultipartUpload({ bucket: 'bucket', key, uploadId, parts: [{ partNumber: 1, etag }] });
      return;
    }
    case 'enable':
    case 'suspend':
      await layer.putBucketVersioning('bucket', { status: done.kind === 'enable' ? 'Enabled' : 'Suspended' });
      return;
    default:
      done satisfies never;
  }
}

async function filled(done: readonly (readonly [string, Operation])[]): Promise<TestLayer> {
  const test = testLayer({ inlineLimit: INLINE });
  await test.layer.createBucket('bucket', { location: '' });
  for (const [key, one] of done) {
    try {
      await perform(test, key, one);
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
    }
  }
  await removeQueuedBlobs({ records: test.records, blobs: test.blobs, now: Date.now() + 1_000, delay: 0 });
  return test;
}

function issues({ records, blobs }: TestLayer): Promise<Issue[]> {
  return Array.fromAsync(verifyStores({ records, blobs, now: Date.now() + 1_000, bodies: true, graceMs: 0 }));
}

describe('after random operations on versions, verify', () => {
  it('finds nothing', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (done) => {
        expect(await issues(await filled(done))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('finds each record of a version that is lost or is of another version', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(operations, fc.constantFrom('o', 'l', 'v', 'i', 'm'), fc.nat(), async (done, table, at) => {
        const test = await filled(done);
        const found = await Array.fromAsync(entries(test.records, within(table)));
        const entry = found[at % Math.max(1, found.length)];
        if (entry === undefined) return;
        const ofVersion = table === 'o' || table === 'l' || table === 'v';
        const record = ofVersion ? decodeObject(entry.value, 'bucket', 'key') : undefined;
        // Without its marker or its last version, a key is one that never was.
        const isSeen = record?.deleteMarker !== true;
        const value = record && encodeObject({ ...record, versionId: randomBytes(16).toString('hex') });
        if (table === 'v' && value !== undefined) {
          await commitOnce(test.records, { put: [{ key: entry.key, value }] }, randomBytes);
          expect(await issues(test)).toContainEqual(expect.objectContaining({ kind: 'inconsistent-versions' }));
        } else if (isSeen) {
          await commitOnce(test.records, { delete: [entry.key] }, randomBytes);
          expect(await issues(test)).not.toEqual([]);
        }
      }),
      { numRuns: 100 },
    );
  });
});
