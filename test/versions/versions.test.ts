import { describe, it } from 'vitest';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { report } from '../support/report.ts';
import { testLayer } from '../support/objects/test-layer.ts';
import { ForeignVersionsModel } from '../support/objects/foreign-versions-model.ts';
import { kindsOfBuckets, VersionsModel } from '../support/objects/versions-model.ts';
import { switchedRecords } from '../support/store/switched-records.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { seed } from '../support/seed.ts';

const asked = process.env['COFFER_VERSIONS_OPERATIONS'];
const operations = Number(asked ?? 1_500);
/** Each commit is a flush of the disk. */
const operationsOnDisk = Number(asked ?? 300);

describe.each(kindsOfBuckets)('random operations on a bucket with %s', (kind, options) => {
  it.each([seed, seed + 1])('end as in the model over memory, seed %i', { timeout: 900_000 }, async (one) => {
    await VersionsModel.run((clock) => testLayer({ clock, inlineLimit: 8 }).layer, {
      seed: one,
      operations,
      ...options,
    });
    report(`memory, ${kind}, seed ${one}: ${operations} operations as in the model`);
  });

  it('end as in the model over LMDB', { timeout: 900_000 }, async () => {
    const folder = await temporaryFolder();
    const records = openLmdbRecordStore({ folder: folder.path });
    const blobs = new MemoryBlobStore();
    const { keys } = testLayer();
    try {
      const makeLayer = (clock: () => number) => createObjectLayer({ records, blobs, keys, clock, inlineLimit: 8 });
      await VersionsModel.run(makeLayer, { seed, operations: operationsOnDisk, ...options });
    } finally {
      await records.close();
      await folder.remove();
    }
    report(`LMDB, ${kind}, seed ${seed}: ${operationsOnDisk} operations as in the model`);
  });
});

it('keeps versions from elsewhere over LMDB as the model does', { timeout: 900_000 }, async () => {
  const folder = await temporaryFolder();
  const records = await switchedRecords(openLmdbRecordStore({ folder: folder.path }));
  const { blobs, keys } = testLayer();
  try {
    const makeLayer = (clock: () => number) => createObjectLayer({ records, blobs, keys, clock, inlineLimit: 8 });
    await ForeignVersionsModel.run(makeLayer, { seed, operations: operationsOnDisk });
  } finally {
    await records.close();
    await folder.remove();
  }
  report(`LMDB, versions from elsewhere, seed ${seed}: ${operationsOnDisk} operations as in the model`);
});
