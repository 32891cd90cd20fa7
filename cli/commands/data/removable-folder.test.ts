import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireRemovable } from './removable-folder.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-removable-'));
  await mkdir(join(folder, 'here/below'), { recursive: true });
  await mkdir(join(folder, 'here-too'));
  await symlink('here', join(folder, 'link'));
});
afterAll(() => rm(folder, { recursive: true }));

it.each(['here', 'here/', '.', 'link/', '/'])('refuses %s for a command in the folder "here"', async (path) => {
  const named = path === '/' ? path : join(folder, path);
  await expect(requireRemovable(named, join(folder, 'here'))).rejects.toThrow(
    'is the folder that the command is in or one above it',
  );
});

it.each(['here/below', 'here-too', 'nothing'])('leaves %s', async (path) => {
  await expect(requireRemovable(join(folder, path), join(folder, 'here'))).resolves.toBeUndefined();
});
