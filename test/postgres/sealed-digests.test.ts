import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { sealOldDigests } from '../../server/maintenance/rewrap/seal-old-digests.ts';
import { openDataFolder, type DataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { writeAsBefore } from '../sealed-digests/old-records.ts';
import { startPostgres, type TestDatabase, type TestPostgres } from '../support/server/postgres.ts';
import {
  customerKey,
  EncryptedStore,
  filesIn,
  OBJECTS,
  pin,
  readableIn,
  schemes,
} from '../sealed-digests/encrypted-store.ts';

const log = pino({ enabled: false });
let server: TestPostgres;
let database: TestDatabase;
let base: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: DataFolder;
let records: RecordStore;
let store: EncryptedStore;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());
beforeEach(async () => {
  base = await temporaryFolder();
  folder = await openDataFolder(join(base.path, 'data'));
  database = await server.createDatabase();
  records = await openPostgresRecordStore({ ...database, log });
  store = new EncryptedStore(records, openFilesBlobStore(folder.blobsFolder));
  await store.start();
});
afterEach(async () => {
  await records.close();
  await folder.close();
  await base.remove();
});

/** All rows of all tables: binary columns as they are, the others as text. */
async function* rows(): AsyncGenerator<Buffer> {
  const name = new URL(database.url).pathname.slice(1);
  const all = await server.asSuperuser(
    `select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    name,
  );
  expect(all.map(({ tablename }) => tablename)).toContain('coffer_records');
  for (const { schemaname, tablename } of all) {
    for (const row of await server.asSuperuser(`select * from "${String(schemaname)}"."${String(tablename)}"`, name)) {
      const values = Object.values(row).map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(String(value))));
      yield Buffer.concat(values.flatMap((value) => [value, Buffer.from('\n')]));
    }
  }
}

/** What is readable in tables and blobs. */
async function readable(what: string): Promise<string[]> {
  return readableIn(`PostgreSQL and its blobs, ${what}`, tablesAndBlobs());
}

async function* tablesAndBlobs(): AsyncGenerator<Buffer> {
  yield* rows();
  yield* filesIn(folder.blobsFolder);
}

it('has all digests of plain objects', { timeout: 300_000 }, async () => {
  await store.putAll([undefined]);
  const found = await readable('plain');
  for (let at = 0; at < OBJECTS; at += 1) expect(found).toContain(`MD5 of ${pin(at)}, hexadecimal`);
  expect(found).toContain('CRC64NVME of the first part, base64');
});

it(
  'has no digest of encrypted objects, nor of those that older servers left readable',
  { timeout: 300_000 },
  async () => {
    await store.putAll(schemes);
    expect(await readable('encrypted')).toEqual([]);
    const before = await store.shown();
    await writeAsBefore(records, store, customerKey);
    expect((await readable('as older servers wrote them')).length).toBeGreaterThan(OBJECTS);
    const { digests } = store;
    expect(await sealOldDigests({ records, digests, hasKeys: true, log })).toMatchObject({ dropped: 0, failed: 0 });
    expect(await readable('brought forward')).toEqual([]);
    expect(await store.shown()).toEqual(before);
  },
);
