import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { decodeDeployment, deploymentKey, NEWEST_FORMAT } from '../../server/store/deployment.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { verifyFolder } from '../crash/verify-folder.ts';
import { inFullForm } from '../support/full-form.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { commitsHavePlaces } from '../support/store/places-of-commits.ts';
import { expectContents, expectWrites, settings } from './contents.ts';
import { expectVersions } from './expect-versions.ts';
import { expectForeignVersions, writeForeignVersions } from './foreign-versions.ts';
import { type StoredFolder, unpackFolder } from './stored-folder.ts';
import { seed } from '../support/seed.ts';

commitsHavePlaces('with-ids-made-before');

const here = new URL('./', import.meta.url);
const formats = readdirSync(here)
  .flatMap((name) => /^format-(\d+)\.json$/.exec(name)?.[1] ?? [])
  .map(Number)
  .sort((a, b) => a - b);
/** Kills during the first starts, while the server brings a folder forward. */
const kills = inFullForm(10, 1);
const random = new SeededRandom(seed);

/** The formats of the folder itself and of its records. The records have the newest one once they may be written in it. */
async function formatsOf(path: string): Promise<unknown> {
  const { format } = JSON.parse(await readFile(join(path, 'format.json'), 'utf8')) as { format: number };
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    const entry = await records.get(deploymentKey);
    return { folder: format, records: entry && decodeDeployment(entry.value, path).writes };
  } finally {
    await records.close();
    await folder.close();
  }
}

async function killed(folder: string): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    const onSpawned = (child: ChildProcess) => {
      child.once('exit', () => {
        resolve();
      });
      setTimeout(() => child.kill('SIGKILL'), random.between(100, 2_000));
    };
    startServer({ env: settings, folder, onSpawned }).catch(() => undefined);
  });
  await ended;
}

it('has a folder of each format', () => {
  expect(formats).toEqual(Array.from({ length: NEWEST_FORMAT }, (_, index) => index + 1));
});

it.each(formats)(
  'serves, changes and verifies a data folder of format %i, also after kills',
  { timeout: 360_000 },
  async (format) => {
    const folder = await mkdtemp(join(tmpdir(), 'coffer-upgrades-'));
    try {
      await unpackFolder(
        JSON.parse(await readFile(new URL(`format-${format}.json`, here), 'utf8')) as StoredFolder,
        folder,
      );
      for (let kill = 0; kill < kills; kill += 1) await killed(folder);
      const server = await startServer({ env: settings, folder });
      try {
        await untilReady(server);
        await expectContents(server);
        if (format >= 4) await expectForeignVersions(server);
        else await writeForeignVersions(server);
        await expectWrites(server);
      } finally {
        await server.stop();
      }
      expect(await formatsOf(folder)).toEqual({ folder: 3, records: NEWEST_FORMAT });
      expect((await verifyFolder(folder)).complaints).toEqual([]);
      await expectVersions(folder);
      expect((await verifyFolder(folder)).complaints).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
