import { describe, expect, it } from 'vitest';
import { targetKey, transferProblem } from './selection.ts';

describe('targetKey', () => {
  it.each([
    [{ key: 'a/b.txt', base: 'a/b.txt', prefix: '' }, 'b.txt'],
    [{ key: 'a/b.txt', base: 'a/b.txt', prefix: 'x/y/' }, 'x/y/b.txt'],
    [{ key: 'b.txt', base: 'b.txt', prefix: '', rename: 'c.txt' }, 'c.txt'],
    [{ key: 'a/b/c/d', base: 'a/b/', prefix: 'x/' }, 'x/b/c/d'],
    [{ key: 'a/b/', base: 'a/b/', prefix: 'x/' }, 'x/b/'],
    [{ key: 'a/b/c', base: 'a/b/', prefix: 'a/', rename: 'z' }, 'a/z/c'],
  ])('of %j is %s', (target, key) => {
    expect(targetKey(target)).toBe(key);
  });
});

describe('transferProblem', () => {
  const objects = [{ key: 'a/one.txt', size: 1 }];
  it.each([
    ['another folder', { objects, folders: ['a/b/'] }, { bucket: 'docs', prefix: 'c/' }, undefined, undefined],
    ['the same folder', { objects, folders: [] }, { bucket: 'docs', prefix: 'a/' }, undefined, 'It is there already.'],
    [
      'the same folder of another bucket',
      { objects, folders: [] },
      { bucket: 'x', prefix: 'a/' },
      undefined,
      undefined,
    ],
    [
      'a folder into itself',
      { objects: [], folders: ['a/b/'] },
      { bucket: 'docs', prefix: 'a/b/' },
      undefined,
      'a/b/ cannot go into itself.',
    ],
    ['a new name', { objects, folders: [] }, { bucket: 'docs', prefix: 'a/' }, 'two.txt', undefined],
    [
      'a name with a slash',
      { objects, folders: [] },
      { bucket: 'docs', prefix: 'a/' },
      'x/y',
      'A name has at least one character and no slash.',
    ],
    [
      'half of a folder name',
      { objects, folders: [] },
      { bucket: 'docs', prefix: 'c' },
      undefined,
      'A folder ends in a slash.',
    ],
  ])('for %s', (_, selection, target, rename, problem) => {
    expect(transferProblem(selection, 'docs', target, rename)).toBe(problem);
  });
});
