import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { localEntryPages } from './local-entries.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-entries-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function put(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), name);
  }
}

async function names(recursive: boolean): Promise<string[]> {
  const pages = await Array.fromAsync(localEntryPages(folder, recursive));
  return pages
    .flat()
    .map((one) =>
      one.kind === 'file' || one.kind === 'folder' ? one.name : `${one.kind} ${one.display.slice(folder.length + 1)}`,
    );
}

it('has the order of keys in a bucket, where a folder ends with a slash', async () => {
  await put('a/b', 'a-b', 'a.b', 'a/c/d', 'Z', 'ü', '\u{1F600}', '\uFFFD');
  const keys = ['Z', 'a-b', 'a.b', 'a/b', 'a/c/d', 'ü', '\uFFFD', '\u{1F600}'];
  expect(await names(true)).toEqual(keys);
  expect(await names(false)).toEqual(['Z', 'a-b', 'a.b', 'a/', 'ü', '\uFFFD', '\u{1F600}']);
});

it('follows links to files, and not to folders', async () => {
  await put('folder/x', 'file');
  await symlink(join(folder, 'folder'), join(folder, 'to-folder'));
  await symlink(join(folder, 'file'), join(folder, 'to-file'));
  await symlink(join(folder, 'none'), join(folder, 'to-none'));
  expect(await names(true)).toEqual(['file', 'folder/x', 'to-file', 'skipped to-folder', 'unreadable to-none']);
});

it('goes on after what it cannot read', async () => {
  await put('a/x', 'z');
  await writeFile(Buffer.concat([Buffer.from(`${folder}/b`), Buffer.of(0xff)]), 'x');
  expect(await names(true)).toEqual(['a/x', expect.stringMatching(/^unreadable b/), 'z']);
});

it('is the file itself for a file', async () => {
  await put('file');
  const [[entry] = []] = await Array.fromAsync(localEntryPages(join(folder, 'file'), false));
  expect(entry).toMatchObject({ kind: 'file', name: 'file', size: 4, display: join(folder, 'file') });
});
