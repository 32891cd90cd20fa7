import { describe, expect, it } from 'vitest';
import { partSizeFor } from './multipart-upload.ts';

const mebibyte = 2 ** 20;

describe('the size of a part', () => {
  it('is the wanted one where 10,000 parts are enough', () => {
    expect(partSizeFor(10_000 * 16 * mebibyte, 16 * mebibyte)).toBe(16 * mebibyte);
  });

  it('grows to whole MiB where they are not', () => {
    expect(partSizeFor(10_000 * 16 * mebibyte + 1, 16 * mebibyte)).toBe(17 * mebibyte);
  });
});
