import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';
import { writeDurably } from './durable-file.ts';

let base: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => (base = await temporaryFolder()));
afterEach(() => base.remove());

describe('writeDurably', () => {
  it('replaces a file', async () => {
    const path = join(base.path, 'file');
    for (const text of ['first', 'second']) await writeDurably(path, text);
    expect([await readFile(path, 'utf8'), await readdir(base.path)]).toEqual(['second', ['file']]);
  });

  it('leaves nothing beside the file where it cannot get its name', async () => {
    await mkdir(join(base.path, 'folder'));
    await expect(writeDurably(join(base.path, 'folder'), 'text')).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await readdir(base.path)).toEqual(['folder']);
  });
});
