import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyFolder, verifySweptFolder } from '../crash/verify-folder.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { compileIoFaults, type Fault, IoFaults } from './io-faults.ts';
import { allFaults, sampleOf, sweepServer } from './sweep.ts';

/** The gate tries the same faults each time, so that a failure is one of the change. `.ci/soak sweep` draws others. */
const seed = Number(process.env['COFFER_SEED'] ?? 1);
/** The faults that are tried, of all; none without a number. `.ci/soak sweep` tries all. */
const wanted = Number(process.env['COFFER_SWEEP'] ?? 0);

/** The server ends itself where the state of the record file is unknown, and nowhere else (docs/guides/server.md). */
const mayEnd = ({ ops: [op = 'read'], in: place, error }: Fault) =>
  place === 'records' && ['write', 'flushed write', 'flush', 'truncate'].includes(op) && error !== 'slow';

let folder: string;
let library: string;

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-sweep-')));
  library = compileIoFaults(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe(`a server whose calls fail one kind after the other, seed ${seed}`, { timeout: 4 * 3_600_000 }, () => {
  it.runIf(wanted > 0)('loses nothing that it acknowledged, and ends only where the guide says so', async () => {
    const random = new SeededRandom(seed);
    const dataFolder = join(folder, 'data');
    await mkdir(dataFolder);
    const shim = new IoFaults({ folder, dataFolder, library });
    const faults = sampleOf(allFaults({ places: ['records', 'blobs', 'rest'], every: 2 }), wanted, random);
    const { wrong, hits } = await sweepServer({
      faults,
      shim,
      dataFolder,
      random,
      mayEnd,
      verify: async (kind) =>
        (kind === 'ended' ? await verifyFolder(dataFolder) : await verifySweptFolder(dataFolder)).complaints,
    });
    shim.close();
    expect(wrong).toEqual([]);
    // Many calls are not made by this load: LMDB opens its file once.
    report(`${hits} of ${faults.length} faults met a call of a server with its records in a folder`);
    expect(hits).toBeGreaterThan(faults.length / 20);
  });
});
