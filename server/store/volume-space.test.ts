import { describe, expect, it } from 'vitest';
import { spaceOf } from './volume-space.ts';

const fileSystem = { bavail: 60, bfree: 70, blocks: 100, bsize: 4_096, ffree: 5, files: 8 };

describe('the room of a file system', () => {
  it('leaves out what is kept for root, so that the rest is used', () => {
    const { free, total } = spaceOf(fileSystem);
    expect([free / 4_096, total / 4_096, (total - free) / 4_096]).toEqual([60, 90, 30]);
  });

  it('has inodes where the file system counts them', () => {
    expect(spaceOf(fileSystem).inodes).toEqual({ free: 5, total: 8 });
    expect(spaceOf({ ...fileSystem, ffree: 0, files: 0 }).inodes).toBeUndefined();
  });
});
