import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataFolder, bringForward, readFormat } from './data-folder.ts';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;

beforeEach(async () => {
  base = await temporaryFolder();
  path = join(base.path, 'deep', 'data');
});
afterEach(() => base.remove());

describe('a data folder', () => {
  it('is made, with folders of this user only', async () => {
    const folder = await openDataFolder(path);
    for (const made of [path, folder.recordsFolder, folder.blobsFolder])
      expect((await stat(made)).mode & 0o777).toBe(0o700);
    await folder.close();
  });

  it('keeps its deployment ID', async () => {
    const first = await openDataFolder(path);
    await first.close();
    const second = await openDataFolder(path);
    expect(second.deploymentId).toBe(first.deploymentId);
    expect(first.deploymentId).toMatch(/^[0-9a-f-]{36}$/);
    await second.close();
  });

  it('is rid of records that a start was making when it was cut off', async () => {
    const first = await openDataFolder(path);
    await first.close();
    await mkdir(join(first.recordsFolder, 'new-1'));
    await writeFile(join(first.recordsFolder, 'new-1', 'data.mdb'), 'half');
    const second = await openDataFolder(path);
    expect(await readdir(second.recordsFolder)).toEqual(['lock.mdb']);
    await second.close();
  });

  it('may have been an empty folder, a volume’s too', async () => {
    await mkdir(join(path, 'lost+found'), { recursive: true });
    await (await openDataFolder(path)).close();
  });

  it('is refused as a link to nowhere, which may be a volume that is away', async () => {
    const link = join(base.path, 'link');
    await symlink(join(base.path, 'nowhere'), link);
    await expect(openDataFolder(link)).rejects.toThrow(`${link} is a link to a folder that does not exist`);
  });

  it('is refused where something else is kept, and nothing is put there', async () => {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'thesis.txt'), 'x');
    await expect(openDataFolder(path)).rejects.toThrow('holds "thesis.txt" and no data of Coffer');
    expect(await readdir(path)).toEqual(['thesis.txt']);
  });

  it('is refused where a MinIO kept its data, with the way to move them', async () => {
    await mkdir(join(path, '.minio.sys'), { recursive: true });
    await mkdir(join(path, 'photos'));
    await expect(openDataFolder(path)).rejects.toThrow('holds data of MinIO, which Coffer cannot read');
    expect((await readdir(path)).sort()).toEqual(['.minio.sys', 'photos']);
  });

  it('is refused where a file is in the way', async () => {
    await writeFile(join(base.path, 'deep'), 'x');
    await expect(openDataFolder(path)).rejects.toMatchObject({ code: 'data-folder' });
  });
});

describe('its lock', () => {
  it('keeps a second server out, of this process or another', async () => {
    const first = await openDataFolder(path);
    await expect(openDataFolder(path)).rejects.toThrow('is in use by another server');
    const other = holder(path);
    expect(await other.line).toContain('is in use by another server');
    await first.close();
  });

  it('is taken again where its file was removed or replaced, with a word', async () => {
    const first = await openDataFolder(path);
    expect(await first.checkLocks()).toEqual([]);
    for (const change of [() => rm(join(path, 'lock')), () => rename(join(base.path, 'other'), join(path, 'lock'))]) {
      await writeFile(join(base.path, 'other'), '');
      await change();
      expect(await first.checkLocks()).toMatchObject([expect.stringContaining('it has locked the folder again')]);
      expect(await first.checkLocks()).toEqual([]);
      await expect(openDataFolder(path)).rejects.toMatchObject({ code: 'in-use' });
    }
    await first.close();
  });

  it('is told from that of another server, which took it first', async () => {
    const first = await openDataFolder(path);
    await rm(join(path, 'lock'));
    const second = await openDataFolder(path);
    await expect(first.checkLocks()).rejects.toMatchObject({ code: 'in-use' });
    expect(await second.checkLocks()).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });

  it('is not taken in the folder beneath a mount point', async () => {
    const first = await openDataFolder(path);
    await rename(path, join(base.path, 'volume'));
    await mkdir(path);
    expect(await first.checkLocks()).toEqual([]);
    expect(await readdir(path)).toEqual([]);
    await first.close();
  });

  it('of the records is missed, too', async () => {
    const first = await openDataFolder(path);
    await rm(join(first.recordsFolder, 'lock.mdb'));
    expect(await first.checkLocks()).toMatchObject([expect.stringContaining('lock.mdb was removed or replaced')]);
    expect(await first.checkLocks()).toEqual([]);
    await first.close();
  });

  it('is free again once closed', async () => {
    await (await openDataFolder(path)).close();
    await (await openDataFolder(path)).close();
  });

  it('is free again once its holder was killed, without repair', async () => {
    const other = holder(path);
    expect(await other.line).toBe('open');
    await expect(openDataFolder(path)).rejects.toThrow('is in use by another server');
    other.process.kill('SIGKILL');
    await once(other.process, 'exit');
    await (await openDataFolder(path)).close();
  });

  it('goes to one of two that start at once', async () => {
    const starts = await Promise.allSettled([openDataFolder(path), openDataFolder(path)]);
    const opened = starts.filter((start) => start.status === 'fulfilled');
    expect(opened).toHaveLength(1);
    await opened[0]?.value.close();
  });
});

describe('its format', () => {
  it('is refused when it is newer than the server, by a message that says so', async () => {
    await (await openDataFolder(path)).close();
    const file = join(path, 'format.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"format": 3', '"format": 4'));
    await expect(openDataFolder(path)).rejects.toThrow(/has format 4, this server knows formats up to 3/);
    // The lock was let go.
    await writeFile(file, (await readFile(file, 'utf8')).replace('"format": 4', '"format": 3'));
    await (await openDataFolder(path)).close();
  });

  it.each([1, 2])('is brought from %i to 3 by a start, so that older servers refuse the folder', async (format) => {
    await (await openDataFolder(path)).close();
    const file = join(path, 'format.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"format": 3', `"format": ${format}`));
    await (await openDataFolder(path)).close();
    const found = await readFormat(file);
    expect(found?.format).toBe(3);
    if (found === undefined) throw new Error('no format file');
    const older = { format, migrations: new Map() };
    await expect(bringForward(path, file, found, older)).rejects.toThrow(
      `has format 3, this server knows formats up to ${format}: start the newer server`,
    );
  });

  it('is refused when the file is damaged', async () => {
    await (await openDataFolder(path)).close();
    await writeFile(join(path, 'format.json'), '{');
    await expect(openDataFolder(path)).rejects.toThrow('is not a format file of Coffer');
  });

  it('is brought forward one step at a time, and goes on where a crash stopped it', async () => {
    await (await openDataFolder(path)).close();
    const file = join(path, 'format.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"format": 3', '"format": 1'));
    const steps: string[] = [];
    const step = (name: string) => () => {
      steps.push(name);
      return name === '2 to 3' && steps.length === 2 ? Promise.reject(new Error('killed')) : Promise.resolve();
    };
    const supported = {
      format: 3,
      migrations: new Map([
        [1, step('1 to 2')],
        [2, step('2 to 3')],
      ]),
    };
    const found = async () => (await readFormat(file)) ?? { format: 0, deploymentId: '' };
    await expect(bringForward(path, file, await found(), supported)).rejects.toThrow('killed');
    await bringForward(path, file, await found(), supported);
    expect(steps).toEqual(['1 to 2', '2 to 3', '2 to 3']);
    expect((await found()).format).toBe(3);
  });
});

/** Another process that opens the folder and keeps it. */
function holder(path: string) {
  const module = new URL('data-folder.ts', import.meta.url).href;
  const script = `
    const { openDataFolder } = await import(${JSON.stringify(module)});
    try { await openDataFolder(${JSON.stringify(path)}); console.log('open'); setInterval(() => {}, 1000); }
    catch (error) { console.log(error.message); }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = once(child.stdout, 'data').then(([data]) => String(data).trim());
  return { process: child, line };
}
