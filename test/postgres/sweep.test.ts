import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { verified, verifiedWhenSwept } from '../crash/verify-folder.ts';
import { compileIoFaults, IoFaults } from '../disk/io-faults.ts';
import { seed } from '../support/seed.ts';
import { faultsOfRun, isSwept, runName } from '../disk/sweep-run.ts';
import { allFaults, sweepServer } from '../disk/sweep.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';

let folder: string;
let library: string;
let postgres: TestPostgres;

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-sweep-')));
  library = compileIoFaults(folder);
  postgres = await startPostgres();
}, 360_000);
afterAll(async () => {
  await postgres.remove();
  await rm(folder, { recursive: true, force: true });
});

describe.each([1, 2])(
  `%i servers on shared stores whose calls fail, ${runName}`,
  { timeout: 4 * 3_600_000 },
  (count) => {
    it.runIf(isSwept)('lose nothing that they acknowledged, and never end', async () => {
      const random = new SeededRandom(seed);
      const base = join(folder, `of-${count}`);
      const blobsFolder = join(base, 'blobs');
      await mkdir(blobsFolder, { recursive: true });
      const shim = new IoFaults({ folder: base, dataFolder: base, library });
      const database = await postgres.createDatabase();
      const url = new URL(database.url);
      url.password = database.password;
      const faults = faultsOfRun(allFaults({ places: ['blobs', 'rest'], every: 2 }), count);
      const { wrong, hits } = await sweepServer({
        faults,
        shim,
        dataFolders: Array.from({ length: count }, (_, index) => join(base, `data-${index}`)),
        random,
        env: { SVC_STORE_RECORDS: url.href, SVC_STORE_BLOBS: blobsFolder },
        mayEnd: () => false,
        verify: async (kind) => {
          const records = await openPostgresRecordStore({ ...database, log: pino({ enabled: false }) });
          try {
            const blobs = openFilesBlobStore(blobsFolder);
            return (await (kind === 'ended' ? verified : verifiedWhenSwept)(records, blobs)).complaints;
          } finally {
            await records.close();
          }
        },
      });
      shim.close();
      expect(wrong).toEqual([]);
      report(`${hits} of ${faults.length} faults met a call of ${count} servers with their records in a database`);
      // Most calls are those of LMDB, which these servers do not use.
      expect(hits).toBeGreaterThan(0);
    });
  },
);
