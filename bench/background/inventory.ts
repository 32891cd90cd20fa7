// `node bin/run.js bench/background/inventory.ts [COUNT]` writes inventories of a bucket with this many objects (1,000,000), in CSV and in Parquet, as fast
// as it can. The records are written into LMDB at once, without requests. DuckDB reads the reports: each key must be there once.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InventoryConfiguration } from '../../protocol/s3/bucket-inventory.ts';
import { noKeySource } from '../../server/encryption/key-source.ts';
import { inventoryRounds } from '../../server/maintenance/inventory/inventory-rounds.ts';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { decodeObject, encodeObject } from '../../server/objects/records/object-record.ts';
import { recordKeys } from '../../server/objects/records/record-format.ts';
import { commitOnce } from '../../server/store/commits.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { body, put } from '../../test/support/objects/test-layer.ts';
import { tool } from '../../test/support/process/run-command.ts';
import { unlimited } from '../../server/maintenance/pace.ts';

const count = Number(process.argv[2] ?? 1_000_000);
const BATCH = 5_000;
const folder = mkdtempSync(join(process.cwd(), '.bench-inventory-'));
const records = openLmdbRecordStore({ folder });
const objects = createObjectLayer({ records, blobs: new MemoryBlobStore(), keys: noKeySource });
const keyOf = (at: number) => `photos/${String(Math.floor(at / 1_000)).padStart(6, '0')}/${at % 1_000}.jpg`;

async function fill(): Promise<void> {
  for (const bucket of ['source', 'reports']) await objects.createBucket(bucket, { location: '' });
  await objects.putObject(put('source', keyOf(0), 'x'));
  const entry = await records.get(recordKeys.object('source', keyOf(0)));
  if (entry === undefined) throw new Error('the first object has a record');
  const record = decodeObject(entry.value, 'source', keyOf(0));
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => ({
      key: recordKeys.object('source', keyOf(from + at)),
      value: encodeObject({ ...record, id: randomBytes(16).toString('hex'), size: from + at }),
    }));
    await commitOnce(records, { put: batch }, randomBytes);
  }
}

async function measure(format: 'CSV' | 'Parquet'): Promise<void> {
  const configuration: InventoryConfiguration = {
    id: format,
    enabled: true,
    destination: { bucket: 'reports', format },
    frequency: 'Daily',
    versions: 'Current',
    fields: ['Size', 'LastModifiedDate', 'ETag', 'StorageClass', 'EncryptionStatus', 'ObjectOwner'],
  };
  await objects.putBucketInventory('source', configuration);
  const log = { info: () => undefined, warn: (fields: object) => console.log(fields) };
  const report = inventoryRounds({ dayMs: 86_400_000, reads: unlimited, log });
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  await report({ records, objects, signal: new AbortController().signal });
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const { objects: files } = await objects.listObjects({
    bucket: 'reports',
    prefix: `source/${format}/data/`,
    delimiter: '',
    after: '',
    limit: 1_000,
  });
  const place = join(folder, format);
  mkdirSync(place);
  const extension = format === 'CSV' ? 'csv.gz' : 'parquet';
  for (const [at, { key }] of files.entries()) {
    writeFileSync(join(place, `${at}.${extension}`), await body(objects, 'reports', key));
  }
  const table =
    format === 'CSV'
      ? `(SELECT column1 AS key, CAST(column2 AS BIGINT) AS size FROM read_csv('${place}/*.csv.gz', header = false, all_varchar = true))`
      : `read_parquet('${place}/*.parquet')`;
  const sql = `SELECT COUNT(*), COUNT(DISTINCT key), SUM(size) FROM ${table}`;
  const script = `import duckdb; duckdb.sql('SET enable_progress_bar = false'); print(*[int(one) for one in duckdb.sql("""${sql}""").fetchall()[0]])`;
  const found = execFileSync(tool('select/bin/python', 'select'), ['-c', script]).toString().trim();
  const cost = ((user + system) / count).toFixed(1);
  console.log(
    `${format}: ${seconds.toFixed(1)} s, ${cost} µs of processor time for each object, ${files.length} files; rows, keys and bytes by DuckDB: ${found}`,
  );
  if (found !== `${count} ${count} ${(count * (count - 1)) / 2}`) throw new Error('the report is not complete');
}

try {
  await fill();
  console.log(`${count} objects; ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB before`);
  await measure('CSV');
  await measure('Parquet');
  console.log(`peak of resident memory: ${Math.round(process.resourceUsage().maxRSS / 1_024)} MiB`);
} finally {
  await records.close();
  rmSync(folder, { recursive: true, force: true });
}
