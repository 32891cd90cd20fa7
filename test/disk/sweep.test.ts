import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyFolder, verifySweptFolder } from '../crash/verify-folder.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { compileIoFaults, IoFaults } from './io-faults.ts';
import { seed } from '../support/seed.ts';
import { faultsOfRun, isSwept, partOf, runName } from './sweep-run.ts';
import { allFaults, mayEndServer, sweepServer } from './sweep.ts';

let folder: string;
let library: string;

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-sweep-')));
  library = compileIoFaults(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe(`a server whose calls fail one kind after the other, ${runName}`, { timeout: 4 * 3_600_000 }, () => {
  it.runIf(isSwept)('loses nothing that it acknowledged, and ends only where the guide says so', async () => {
    const random = new SeededRandom(seed);
    const dataFolder = join(folder, 'data');
    await mkdir(dataFolder);
    const shim = new IoFaults({ folder, dataFolder, library });
    const faults = faultsOfRun(allFaults({ places: ['records', 'blobs', 'rest'], every: 2 }));
    const { wrong, hits } = await sweepServer({
      faults,
      shim,
      dataFolders: [dataFolder],
      random,
      mayEnd: mayEndServer,
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

it('tries each fault once in all parts together', () => {
  const all = allFaults({ places: ['records', 'blobs', 'rest'], every: 2 });
  const parts = Array.from({ length: 20 }, (_, index) => partOf(all, `${index + 1}/20`));
  expect(new Set(parts.flat())).toEqual(new Set(all));
  expect(parts.flat()).toHaveLength(all.length);
});

it.each(['0/20', '21/20', '3', '1.5/2', 'a/b'])('refuses part %s', (part) => {
  expect(() => partOf([], part)).toThrow(/write NUMBER\/PARTS/);
});
