import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { mountSmall, type SmallFileSystem } from './small-file-system.ts';

let folder: string;
let small: SmallFileSystem;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-read-only-'));
  small = await mountSmall('tmpfs', folder, 8);
});
afterAll(async () => {
  await small.unmount();
  await rm(folder, { recursive: true });
});

const remount = (mode: 'ro' | 'rw') => {
  execFileSync('mount', ['-o', `remount,${mode}`, small.path]);
};

describe('a file system that is read-only', () => {
  it.each(['an empty folder', 'a data folder'])('is named as the reason when it has %s', async (kind) => {
    if (kind === 'a data folder') await (await openDataFolder(small.path)).close();
    remount('ro');
    try {
      await expect(openDataFolder(small.path)).rejects.toMatchObject({
        code: 'data-folder',
        message: expect.stringMatching(
          /^the data folder \S+ cannot be used: \/\S+: the file system is read-only$/,
        ) as string,
      });
    } finally {
      remount('rw');
    }
  });
});
