import { expect, it } from 'vitest';
import { transferForm } from './transfer.ts';

it('has folders that end in a slash alone', () => {
  const form = {
    kind: 'move',
    bucket: 'docs',
    objects: [],
    folders: ['a/b/'],
    target: { bucket: 'docs', prefix: 'x/' },
    replace: false,
  };
  expect(transferForm.safeParse({ ...form, folders: ['a/b'] }).success).toBe(false);
  expect(transferForm.safeParse(form).success).toBe(true);
});
