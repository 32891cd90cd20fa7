import { expect, it } from 'vitest';
import { targetKey, transferIssue } from './transfer-target.ts';

const form = {
  bucket: 'docs',
  objects: [],
  folders: ['a/b/'],
  target: { bucket: 'docs', prefix: 'x/' },
};

it.each([
  ['a/b/', 'a/b/c/d', undefined, 'x/b/c/d'],
  ['a/b/', 'a/b/', undefined, 'x/b/'],
  ['a/b/', 'a/b/c', 'z', 'x/z/c'],
  ['a/c.txt', 'a/c.txt', undefined, 'x/c.txt'],
  ['a/c.txt', 'a/c.txt', 'd.txt', 'x/d.txt'],
])('of the entry %s, %s with the new name %s goes to %s', (entry, key, rename, to) => {
  expect(targetKey({ target: form.target, ...(rename !== undefined && { rename }) }, entry, key)).toBe(to);
});

it('has no folder before its name at the top of a bucket', () => {
  expect(targetKey({ target: { bucket: 'docs', prefix: '' } }, 'a/b.txt', 'a/b.txt')).toBe('b.txt');
});

it.each([
  [{}, undefined],
  [{ folders: [] }, 'Choose objects or folders.'],
  [{ target: { bucket: 'docs', prefix: 'a/' } }, 'a/b/ is there already.'],
  [{ target: { bucket: 'other', prefix: 'a/' } }, undefined],
  [{ target: { bucket: 'docs', prefix: 'a/b/' } }, 'a/b/ cannot go into itself.'],
  [{ target: { bucket: 'docs', prefix: 'a' } }, 'A folder ends in a slash.'],
  [{ folders: [], objects: ['x/c'] }, 'x/c is there already.'],
  [{ folders: [], objects: ['x/c'], rename: 'd' }, undefined],
  [{ rename: 'x/y' }, 'A name has at least one character and no slash.'],
  [{ rename: '' }, 'A name has at least one character and no slash.'],
  [{ rename: 'z', objects: ['k'] }, 'One entry alone can get another name.'],
])('%j has the problem %s', (change, issue) => {
  expect(transferIssue({ ...form, ...change })).toBe(issue);
});
