import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { verifyFolder } from '../crash/verify-folder.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { expectContents, expectWrites, settings } from './contents.ts';
import { expectVersions } from './expect-versions.ts';
import { type StoredFolder, unpackFolder } from './stored-folder.ts';

const here = new URL('./', import.meta.url);
const formats = readdirSync(here)
  .flatMap((name) => /^format-(\d+)\.json$/.exec(name)?.[1] ?? [])
  .map(Number)
  .sort((a, b) => a - b);
const newest = formats.at(-1);

async function formatOf(folder: string): Promise<unknown> {
  return JSON.parse(await readFile(join(folder, 'format.json'), 'utf8'));
}

it('has a folder of each format', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-upgrades-'));
  try {
    await (await openDataFolder(folder)).close();
    expect(await formatOf(folder)).toMatchObject({ format: newest });
    expect(formats).toEqual(formats.map((_, index) => index + 1));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it.each(formats)('serves, changes and verifies a data folder of format %i', { timeout: 120_000 }, async (format) => {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-upgrades-'));
  try {
    await unpackFolder(
      JSON.parse(await readFile(new URL(`format-${format}.json`, here), 'utf8')) as StoredFolder,
      folder,
    );
    const server = await startServer({ env: settings, folder });
    try {
      await untilReady(server);
      await expectContents(server);
      await expectWrites(server);
    } finally {
      await server.stop();
    }
    expect(await formatOf(folder)).toMatchObject({ format: newest });
    expect((await verifyFolder(folder)).complaints).toEqual([]);
    await expectVersions(folder);
    expect((await verifyFolder(folder)).complaints).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
