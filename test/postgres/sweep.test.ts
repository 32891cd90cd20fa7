import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { verified, verifiedWhenSwept } from '../crash/verify-folder.ts';
import { compileIoFaults, IoFaults } from '../disk/io-faults.ts';
import { allFaults, sampleOf, sweepServer } from '../disk/sweep.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';

/** The gate tries the same faults each time, so that a failure is one of the change. `.ci/soak sweep` draws others. */
const seed = Number(process.env['COFFER_SEED'] ?? 1);
/** The faults that are tried, of all; none without a number. `.ci/soak sweep` tries all. */
const wanted = Number(process.env['COFFER_SWEEP'] ?? 0);

let folder: string;
let library: string;
let postgres: TestPostgres;

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-sweep-')));
  library = compileIoFaults(folder);
  postgres = await startPostgres();
}, 120_000);
afterAll(async () => {
  await postgres.remove();
  await rm(folder, { recursive: true, force: true });
});

describe(`a server on shared records whose calls fail, seed ${seed}`, { timeout: 4 * 3_600_000 }, () => {
  it.runIf(wanted > 0)('loses nothing that it acknowledged, and never ends', async () => {
    const random = new SeededRandom(seed);
    const dataFolder = join(folder, 'data');
    await mkdir(dataFolder);
    const shim = new IoFaults({ folder, dataFolder, library });
    const database = await postgres.createDatabase();
    const url = new URL(database.url);
    url.password = database.password;
    const faults = sampleOf(allFaults({ places: ['blobs', 'rest'], every: 2 }), wanted, random);
    const { wrong, hits } = await sweepServer({
      faults,
      shim,
      dataFolder,
      random,
      env: { SVC_STORE_RECORDS: url.href },
      mayEnd: () => false,
      verify: async (kind) => {
        const records = await openPostgresRecordStore({ ...database, log: pino({ enabled: false }) });
        try {
          const blobs = openFilesBlobStore(join(dataFolder, 'blobs'));
          return (await (kind === 'ended' ? verified : verifiedWhenSwept)(records, blobs)).complaints;
        } finally {
          await records.close();
        }
      },
    });
    shim.close();
    expect(wrong).toEqual([]);
    report(`${hits} of ${faults.length} faults met a call of a server with its records in a database`);
    // Most calls are those of LMDB, which this server does not use.
    expect(hits).toBeGreaterThan(0);
  });
});
