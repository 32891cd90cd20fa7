import { describe, expect, it, vi } from 'vitest';
import { ForeignVersionsModel } from '../../../test/support/objects/foreign-versions-model.ts';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { switchedRecords } from '../../../test/support/store/switched-records.ts';
import { verifyStores } from '../../maintenance/verify/verify-stores.ts';
import { MemoryBlobStore } from '../../store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { lookUpVersion } from './find-version.ts';
import { seed } from '../../../test/support/seed.ts';

describe('versions from elsewhere', () => {
  it.each([seed, seed + 1, seed + 2, seed + 3])(
    'are listed, read and removed as the model says, seed %i',
    { timeout: 360_000 },
    async (seed) => {
      const records = await switchedRecords(new MemoryRecordStore());
      const blobs = new MemoryBlobStore();
      await ForeignVersionsModel.run((clock) => testLayer({ records, blobs, clock, inlineLimit: 8 }).layer, {
        seed,
        operations: Number(process.env['COFFER_VERSIONS_OPERATIONS'] ?? 500),
      });
      expect(await Array.fromAsync(verifyStores({ records, blobs, now: Date.now(), graceMs: 1e15 }))).toEqual([]);
    },
  );

  it('are read in one round trip where they are current, and in two where they are not', async () => {
    const records = await switchedRecords(new MemoryRecordStore());
    const { layer } = testLayer({ records });
    await layer.createBucket('bucket', { location: '' });
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    for (const [versionId, time] of [
      ['AWS/older', 5],
      ['AWS/newer', 7],
    ] as const) {
      await layer.putObject(put('bucket', 'key', versionId, { replica: { versionId, modified: new Date(time) } }));
    }
    const reads = vi.spyOn(records, 'getAll');
    const trips = async (versionId: string) => {
      reads.mockClear();
      await lookUpVersion({ records }, 'bucket', 'key', versionId);
      return reads.mock.calls.length;
    };
    expect([
      await trips('AWS/newer'),
      await trips('AWS/older'),
      await trips('AWS/none'),
      await trips('f'.repeat(32)),
    ]).toEqual([1, 2, 1, 1]);
  });
});
