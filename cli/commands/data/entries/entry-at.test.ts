import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Context } from '../../context.ts';
import { entryAt, hasFolder } from './entry-at.ts';

let path: string;

beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'coffer-entry-at-'));
  await writeFile(join(path, 'f'), 'bytes');
  await mkdir(join(path, 'folder'));
});

afterAll(() => rm(path, { recursive: true }));

describe('entryAt', () => {
  const { stdin, stdout, stderr } = process;
  const context = new Context({ stdin, stdout, stderr, env: {}, signal: new AbortController().signal }, {});

  it.each([
    ['f', 'f'],
    ['f/', undefined],
    ['folder', undefined],
    ['folder/', undefined],
    ['', undefined],
    ['f/below', undefined],
  ])('of %j below a folder is %s', async (name, found) => {
    expect((await entryAt(context, { kind: 'local', path }, name))?.name).toBe(found);
  });
});

describe('hasFolder', () => {
  it.each([
    ['', true],
    ['folder/', true],
    ['f/', false],
    ['absent/', false],
    ['../', false],
  ])('of %j below a folder is %s', async (name, has) => {
    expect(await hasFolder({ kind: 'local', path }, name)).toBe(has);
  });
});
