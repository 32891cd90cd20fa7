import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { descriptorOf } from './descriptor-path.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'descriptor-path-'));
  await writeFile(join(folder, 'file'), '');
  await symlink('file', join(folder, 'link'));
  await symlink('/dev/fd/7', join(folder, 'seven'));
  await symlink('seven', join(folder, 'again'));
  await symlink('circle', join(folder, 'circle'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the descriptor that a path names', () => {
  it.each([
    ['/dev/stdout', 1],
    ['/dev/../dev/stderr', 2],
    ['/proc/self/fd/3', 3],
    ['/proc/thread-self/fd/3', 3],
    [`/proc/${process.pid}/fd/4`, 4],
    [`/proc/${process.ppid}/fd/0`, 'other'],
    ['/dev/null', undefined],
    ['/nowhere/at/all', undefined],
  ])('of %s is %s', async (path, number) => {
    expect(await descriptorOf(path)).toBe(number);
  });

  it.each([
    ['file', undefined],
    ['link', undefined],
    ['again', 7],
    ['circle', undefined],
  ])('of the name %s in a folder is %s', async (name, number) => {
    expect(await descriptorOf(join(folder, name))).toBe(number);
  });
});
