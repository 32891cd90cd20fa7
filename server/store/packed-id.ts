import type { BlobId, SegmentId } from './blob-store.ts';

/** The place of a packed body in bytes. `offset` is a multiple of `PAGE`. */
export interface Place {
  readonly segment: SegmentId;
  readonly offset: number;
  readonly length: number;
}

/** Packed bodies begin at multiples of this. */
export const PAGE = 4096;

/**
 * A packed body has a blob id that is its place: 8 bytes of segment, 4 of offset in pages, 4 of length. Other blob ids begin with a time,
 * whose first byte is not ff before the year 10,000.
 */
const PACKED = 'ff';
const SEGMENT = 16;
const OFFSET = 24;
const LENGTH = 32;

export function packedId({ segment, offset, length }: Place): BlobId {
  return (segment + hex(offset / PAGE) + hex(length)) as BlobId;
}

/** Returns undefined for a blob of its own, and for a segment. */
export function placeOf(blob: BlobId | SegmentId): Place | undefined {
  if (!blob.startsWith(PACKED) || blob.length !== LENGTH) return undefined;
  return {
    segment: blob.slice(0, SEGMENT) as SegmentId,
    offset: parseInt(blob.slice(SEGMENT, OFFSET), 16) * PAGE,
    length: parseInt(blob.slice(OFFSET, LENGTH), 16),
  };
}

export function isPacked(blob: BlobId): boolean {
  return blob.startsWith(PACKED);
}

export function newSegmentId(random: (size: number) => Buffer): SegmentId {
  return (PACKED + random(7).toString('hex')) as SegmentId;
}

export function isSegmentId(text: string): text is SegmentId {
  return /^ff[0-9a-f]{14}$/.test(text);
}

/** The bytes that a body of this length takes in its segment. */
export function paddedLength(length: number): number {
  return Math.ceil(length / PAGE) * PAGE;
}

/** The first and the last id that a body in a segment can have. */
export function idsIn(segment: SegmentId): { readonly first: BlobId; readonly last: BlobId } {
  return { first: (segment + '0'.repeat(16)) as BlobId, last: (segment + 'f'.repeat(16)) as BlobId };
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}
