import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChangeQueue } from './change-queue.ts';
import { FolderWatcher } from './folder-watcher.ts';

let folder: string;
let queue: ChangeQueue;
let watcher: FolderWatcher;
const { signal } = new AbortController();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-watch-'));
  await mkdir(join(folder, 'old/deep'), { recursive: true });
  queue = new ChangeQueue();
  watcher = new FolderWatcher(folder, queue);
  await watcher.start();
});

afterEach(async () => {
  watcher.close();
  await rm(folder, { recursive: true, force: true });
});

/** The names of the next changes, in the order of names. */
async function next(count: number): Promise<string[]> {
  const names = [];
  for await (const { name } of queue.changes(signal)) if (names.push(name) === count) break;
  return names.toSorted();
}

describe('a watched folder', () => {
  it('tells of files in it and in the folders below, also in new ones', async () => {
    await writeFile(join(folder, 'a'), '1');
    await writeFile(join(folder, 'old/deep/b'), '1');
    await mkdir(join(folder, 'new/deeper'), { recursive: true });
    await writeFile(join(folder, 'new/deeper/c'), '1');
    expect(await next(3)).toEqual(['a', 'new/deeper/c', 'old/deep/b']);
  });

  it('tells of files that are removed or renamed, and not of incomplete downloads', async () => {
    await writeFile(join(folder, '.x.0123456789abcdef.part.coffer'), '1');
    await writeFile(join(folder, 'a'), '1');
    expect(await next(1)).toEqual(['a']);
    await rename(join(folder, 'a'), join(folder, 'old/b'));
    expect(await next(2)).toEqual(['a', 'old/b']);
    await rm(join(folder, 'old/b'));
    expect(await next(1)).toEqual(['old/b']);
  });

  it('loses track where a folder is moved away', async () => {
    const other = await mkdtemp(join(tmpdir(), 'coffer-watch-'));
    await rename(join(folder, 'old'), join(other, 'old'));
    expect(await Array.fromAsync(queue.changes(signal))).toEqual([]);
    await rm(other, { recursive: true });
  });
});
