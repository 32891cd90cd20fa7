import { expect, it } from 'vitest';
import type { TransferForm } from '../contract/transfer-answers.ts';
import { targetKey, transferForm, transferProblem } from './transfer.ts';

const form: TransferForm = {
  kind: 'move',
  bucket: 'docs',
  objects: [],
  folders: ['a/b/'],
  target: { bucket: 'docs', prefix: 'x/' },
  replace: false,
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

it.each([
  [{}, undefined],
  [{ folders: [] }, 'Choose objects or folders.'],
  [{ target: { bucket: 'docs', prefix: 'a/' } }, 'a/b/ is there already.'],
  [{ target: { bucket: 'other', prefix: 'a/' } }, undefined],
  [{ target: { bucket: 'docs', prefix: 'a/b/' } }, 'a/b/ cannot go into itself.'],
  [{ target: { bucket: 'docs', prefix: 'a' } }, 'A folder ends in a slash.'],
  [{ rename: 'x/y' }, 'A name has no slash.'],
  [{ rename: 'z', objects: ['k'] }, 'One entry alone can get another name.'],
])('%j has the problem %s', (change, problem) => {
  expect(transferProblem({ ...form, ...change })).toBe(problem);
});

it('has folders that end in a slash alone', () => {
  expect(transferForm.safeParse({ ...form, folders: ['a/b'] }).success).toBe(false);
  expect(transferForm.safeParse(form).success).toBe(true);
});
