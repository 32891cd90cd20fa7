import { describe, expect, it } from 'vitest';
import type { BlobId } from '../../store/blob-store.ts';
import { BlobWindow } from './blob-references.ts';

const ids = ['00', '7f', 'ff'].map((byte) => byte.repeat(16) as BlobId);

describe('BlobWindow', () => {
  it('gives the ids that were not seen, and passes over what is no id', () => {
    const window = new BlobWindow(ids.length);
    for (const id of ids) window.add(id);
    for (const id of ['', 'f', 'ff', 'no id', '7f'.repeat(17), ids[1]]) window.see(id as BlobId);
    expect([...window.unseen()]).toEqual([ids[0], ids[2]]);
  });

  it('keeps its ids and what it saw when its memory grows', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => at.toString(16).padStart(32, '0') as BlobId);
    const window = new BlobWindow(many.length);
    for (const [at, id] of many.entries()) {
      window.add(id);
      if (at % 3 === 0) window.see(id);
    }
    expect([window.size, window.full]).toEqual([many.length, true]);
    expect([...window.unseen()]).toEqual(many.filter((_, at) => at % 3 !== 0));
  });
});
