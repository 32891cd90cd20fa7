import { expect, it } from 'vitest';
import type { OpenSegmentSize, SegmentId } from '../../store/blob-store.ts';
import { isWasteful } from './seal-wasteful-segments.ts';

const MiB = 1024 * 1024;

it.each([
  ['has more garbage than the setting allows', 100, 26, true],
  ['has as much as the setting allows', 100, 25, false],
  ['has a 32nd of a full segment', 8, 4, true],
  ['has less than a 32nd of a full segment, although it is most of it', 5, 3.9, false],
  ['has nothing but garbage, however little', 0.01, 0.01, true],
  ['has nothing', 0, 0, false],
])('an open segment that %s', (_, size, garbage, expected) => {
  const open: OpenSegmentSize = {
    segment: 'ff00000000000000' as SegmentId,
    size: size * MiB,
    failed: 0,
    full: 128 * MiB,
  };
  expect(isWasteful(open, garbage * MiB, 0.25)).toBe(expected);
});
