import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { replaceFolder } from './build.ts';

let folder = '';
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'coffer-build-'))));
afterAll(() => rm(folder, { recursive: true }));

async function newBuild(text: string, name = 'new'): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  await writeFile(join(path, 'index.html'), text);
  return path;
}

it('replaces the built console, and leaves nothing else behind', async () => {
  const built = join(folder, 'console');
  for (const text of ['first', 'second']) {
    await replaceFolder(await newBuild(text), built);
    expect(await readFile(join(built, 'index.html'), 'utf8')).toBe(text);
    expect(await readdir(folder)).toEqual(['console']);
  }
});

it('is replaced by several builds at once, the last of which stays', async () => {
  const built = join(folder, 'console');
  const names = ['a', 'b', 'c', 'd'];
  const builds = await Promise.all(names.map((name) => newBuild(name, name)));
  await Promise.all(builds.map((build) => replaceFolder(build, built)));
  expect(names).toContain(await readFile(join(built, 'index.html'), 'utf8'));
  expect(await readdir(folder)).toEqual(['console']);
});

it('has no light-dark() in its style sheet, which the build writes with variables that nothing sets', async () => {
  expect(await readFile(new URL('src/theme.css', import.meta.url), 'utf8')).not.toContain('light-dark(');
});
