import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { report } from '../support/report.ts';
import { testLayer } from '../support/objects/test-layer.ts';
import { ForeignVersionsModel } from '../support/objects/foreign-versions-model.ts';
import { kindsOfBuckets, VersionsModel } from '../support/objects/versions-model.ts';
import { switchedRecords } from '../support/store/switched-records.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { seed } from '../support/seed.ts';

const operations = Number(process.env['COFFER_VERSIONS_OPERATIONS'] ?? 1_000);

let server: TestPostgres;
beforeEach(async () => {
  server = await startPostgres();
});
afterEach(() => server.remove());

it.each(kindsOfBuckets)('keeps %s as the model does', { timeout: 900_000 }, async (kind, options) => {
  const { url, password } = server;
  const records = await openPostgresRecordStore({ url, password, log: pino({ enabled: false }) });
  const blobs = new MemoryBlobStore();
  const { keys } = testLayer();
  const makeLayer = (clock: () => number) => createObjectLayer({ records, blobs, keys, clock, inlineLimit: 8 });
  await expect(VersionsModel.run(makeLayer, { seed, operations, ...options })).resolves.toBeUndefined();
  await records.close();
  report(`PostgreSQL, ${kind}, seed ${seed}: ${operations} operations as in the model`);
});

it('keeps versions from elsewhere as the model does', { timeout: 900_000 }, async () => {
  const { url, password } = server;
  const records = await switchedRecords(
    await openPostgresRecordStore({ url, password, log: pino({ enabled: false }) }),
  );
  const { blobs, keys } = testLayer();
  const makeLayer = (clock: () => number) => createObjectLayer({ records, blobs, keys, clock, inlineLimit: 8 });
  await expect(ForeignVersionsModel.run(makeLayer, { seed, operations })).resolves.toBeUndefined();
  await records.close();
  report(`PostgreSQL, versions from elsewhere, seed ${seed}: ${operations} operations as in the model`);
});
