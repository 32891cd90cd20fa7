import { execFile } from 'node:child_process';
import { chmod, chown, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { openDataFolder } from '../data-folder.ts';
import { openLmdbRecordStore } from './record-store.ts';

/** A user who is not root and owns nothing here. */
const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let data: string;

beforeEach(async () => {
  base = await temporaryFolder();
  await chmod(base.path, 0o755);
  data = join(base.path, 'data');
});
afterEach(() => base.remove());

/** Opens the data folder and its records in a process of its own, which LMDB may end. Returns what it writes. */
async function openAs(user: number, limit = ''): Promise<string> {
  const script = `
    const { openDataFolder } = await import(${JSON.stringify(new URL('../data-folder.ts', import.meta.url).href)});
    const { openLmdbRecordStore } = await import(${JSON.stringify(new URL('record-store.ts', import.meta.url).href)});
    if (process.geteuid() === 0) {
      process.setgid(${user});
      process.setuid(${user});
    }
    try {
      const folder = await openDataFolder(process.env.FOLDER);
      await openLmdbRecordStore({ folder: folder.recordsFolder }).close();
      console.log('opened');
    } catch (error) {
      console.log(error.code + ': ' + error.message);
    }
  `;
  const args = ['-c', `${limit} exec "$0" --input-type=module -e "$1"`, process.execPath, script];
  const { stdout } = await promisify(execFile)('sh', args, { env: { ...process.env, FOLDER: data } });
  return stdout.trim();
}

/** A data folder with records, of the given user. */
async function ownedBy(user: number): Promise<void> {
  const folder = await openDataFolder(data);
  await openLmdbRecordStore({ folder: folder.recordsFolder }).close();
  await folder.close();
  const names = await readdir(data, { recursive: true });
  for (const name of ['', ...names]) await chown(join(data, name), user, user);
}

describe('the lock file of the records', () => {
  it('is made with the room that LMDB needs', async () => {
    await (await openDataFolder(data)).close();
    const { size, blocks } = await stat(join(data, 'records', 'lock.mdb'));
    expect(size).toBeGreaterThanOrEqual(65_536);
    // A page without a block would end the process by SIGBUS on a full disk.
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
    expect(await openAs(process.geteuid?.() ?? 0)).toBe('opened');
  });

  it.runIf(isRoot)('of another user is named, with owner and cure', async () => {
    await ownedBy(NOBODY);
    expect(await openAs(NOBODY)).toBe('opened');
    const lock = join(data, 'records', 'lock.mdb');
    await chown(lock, 0, 0);
    expect(await openAs(NOBODY)).toBe(
      `data-folder: ${lock} cannot be written: permission denied; it belongs to the user 0, and this program runs as ${NOBODY}: ` +
        `give it to that user (chown ${NOBODY} ${lock})`,
    );
  });

  it.runIf(isRoot)('and all else that root makes in the folder of another user belong to that user', async () => {
    await ownedBy(NOBODY);
    for (const name of ['records/lock.mdb', 'records/data.mdb', 'lock'])
      await promisify(execFile)('rm', [join(data, name)]);
    const folder = await openDataFolder(data);
    await openLmdbRecordStore({ folder: folder.recordsFolder, ballast: true }).close();
    await folder.close();
    for (const name of await readdir(data, { recursive: true })) {
      expect([name, (await stat(join(data, name))).uid]).toEqual([name, NOBODY]);
    }
    expect(await openAs(NOBODY)).toBe('opened');
  });

  it('that cannot grow is named', async () => {
    await (await openDataFolder(data)).close();
    await truncate(join(data, 'records', 'lock.mdb'), 0);
    await writeFile(join(data, 'records', 'data.mdb'), '');
    // Blocks of 512 bytes, or of 1,024 in some shells.
    expect(await openAs(process.geteuid?.() ?? 0, 'ulimit -f 16;')).toMatch(
      /^data-folder: the lock file \S+lock\.mdb cannot be prepared: the file is larger than this process/,
    );
  });

  it('is not made where the address space has no room for the map of the records', async () => {
    expect(await openAs(process.geteuid?.() ?? 0, 'ulimit -v 200000000;')).toMatch(
      /^record-file: the records in \S+ cannot be opened: the address space of this process is limited to 191 GiB/,
    );
  });
});
