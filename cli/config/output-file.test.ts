import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeOutputFile } from './output-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'output-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

function* brokenAnswer() {
  yield Buffer.from('half');
  throw new Error('the connection broke off');
}

describe('an output file', () => {
  it('is only for its owner, also where others could read the file that it replaces', async () => {
    const path = join(folder, 'identities.zip');
    await writeFile(path, 'older');
    await chmod(path, 0o644);
    await writeOutputFile(path, 'secret', 0o600);
    expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['secret', 0o600]);
  });

  it('stays as it was where the answer breaks off, and leaves nothing beside it', async () => {
    const path = join(folder, 'profile.zip');
    await writeFile(path, 'older');
    const before = await readdir(folder);
    const broken = Readable.from(brokenAnswer());
    await expect(writeOutputFile(path, broken, 0o600)).rejects.toThrow('broke off');
    expect([await readFile(path, 'utf8'), await readdir(folder)]).toEqual(['older', before]);
  });

  it.each(['absent', 'older'])('has nothing beside it of a killed command, where the file was %s', async (before) => {
    const path = join(folder, `${before}.zip`);
    const leftover = join(folder, `.${before}.zip.0123456789abcdef.tmp`);
    if (before === 'older') await writeFile(path, before);
    await writeFile(leftover, 'secret');
    await utimes(leftover, 0, 0);
    await writeOutputFile(path, 'new', 0o600);
    await expect(stat(leftover)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is the file that a link names, and a device is written as it is', async () => {
    const [path, link] = [join(folder, 'real.json'), join(folder, 'link.json')];
    await writeFile(path, 'older');
    await symlink(path, link);
    await writeOutputFile(link, Readable.from([Buffer.from('new')]), 0o600);
    expect(await readFile(path, 'utf8')).toBe('new');
    await writeOutputFile('/dev/null', 'x', 0o600);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });
});
