import { expect, it } from 'vitest';
import { boundOf, type Shares } from './bound.ts';

const shares: Shares = { programs: { servers: 30, PostgreSQL: 20 }, idle: 40, thread: 60, flushing: 30 };

it.each<[string, Partial<Shares>, string]>([
  ['the processors', { idle: 5, programs: { servers: 30, PostgreSQL: 40 } }, 'processors, most by PostgreSQL'],
  [
    'other programs',
    { idle: 5, programs: { servers: 20, PostgreSQL: 10 } },
    'other programs; servers most of the rest',
  ],
  ['the threads of the servers', { thread: 95 }, 'HTTP threads'],
  ['the disk', { flushing: 90 }, 'flushes'],
  ['nothing but the connections', {}, 'round trips'],
])('a round is bound by %s', (_, more, expected) => {
  expect(boundOf({ ...shares, ...more })).toBe(expected);
});
