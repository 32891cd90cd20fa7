import { describe, expect, it } from 'vitest';
import type { BodySource } from '../../objects/contract/body-source.ts';
import { readWholeBody } from './request.ts';

/** A body of chunks of ten bytes, and how many were taken and held. */
function bodyOf(chunks: number) {
  const seen = { read: 0, held: 0 };
  const body: BodySource = {
    async pipe(take) {
      for (let at = 0; at < chunks; at += 1) {
        seen.read += 10;
        await take(Buffer.alloc(10, 'x'));
      }
    },
    hold: (bytes) => {
      seen.held += bytes;
    },
  };
  return { body, seen };
}

const limits = { maxBytes: 30, tooLarge: () => new Error('too large') };

describe('a document', () => {
  it('is read whole and held', async () => {
    const { body, seen } = bodyOf(3);
    expect((await readWholeBody(body, limits)).toString()).toBe('x'.repeat(30));
    expect(seen.held).toBe(30);
  });

  it('is read no further than its limit', async () => {
    const { body, seen } = bodyOf(1_000);
    await expect(readWholeBody(body, limits)).rejects.toThrow('too large');
    expect(seen).toEqual({ read: 40, held: 30 });
  });

  it('must have come within a minute', async () => {
    let time = 0;
    const { body } = bodyOf(3);
    const slow = readWholeBody(body, limits, () => (time += 40_000));
    await expect(slow).rejects.toMatchObject({ code: 'RequestTimeout' });
  });
});
