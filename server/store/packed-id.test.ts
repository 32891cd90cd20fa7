import { describe, expect, it } from 'vitest';
import { someBlobId } from '../../test/support/store/blob-store.conformance.ts';
import { type BlobId, isBlobId } from './blob-store.ts';
import { idsIn, isPacked, isSegmentId, newSegmentId, packedId, paddedLength, placeOf } from './packed-id.ts';

const segment = newSegmentId((size) => Buffer.alloc(size, 0xab));

describe('the id of a packed body', () => {
  it.each([
    [0, 0],
    [4096, 1],
    [123 * 4096, 4 * 1024 * 1024],
    // The largest place that an id can hold.
    [(2 ** 32 - 1) * 4096, 2 ** 32 - 1],
  ])('is a blob id that names its place: offset %i, length %i', (offset, length) => {
    const id = packedId({ segment, offset, length });
    expect(isBlobId(id)).toBe(true);
    expect(placeOf(id)).toEqual({ segment, offset, length });
  });

  it('sorts by segment and offset, between the first and the last id of its segment', () => {
    const ids = [0, 1, 2, 300].map((page) => packedId({ segment, offset: page * 4096, length: 5 }));
    expect(ids.toSorted()).toEqual(ids);
    const { first, last } = idsIn(segment);
    expect(ids.every((id) => first <= id && id <= last)).toBe(true);
  });

  it('is never that of a blob of its own', () => {
    const id = someBlobId();
    expect([isPacked(id), placeOf(id)]).toEqual([false, undefined]);
    // The time of the year 10,889.
    expect(isPacked(('fe' + '0'.repeat(30)) as BlobId)).toBe(false);
  });

  it('has a segment, which is no blob id', () => {
    expect([isSegmentId(segment), isBlobId(segment), placeOf(segment)]).toEqual([true, false, undefined]);
    expect(isSegmentId(`${segment}.sealed`)).toBe(false);
  });
});

it.each([
  [0, 0],
  [1, 4096],
  [4096, 4096],
  [4097, 8192],
])('a body of %i bytes takes %i', (length, taken) => {
  expect(paddedLength(length)).toBe(taken);
});
