import { expect, it } from 'vitest';
import { timingSafeEqual } from './timing-safe-equal.ts';

it.each([
  ['secret', 'secret', true],
  ['secret', 'secreT', false],
  ['secret', 'secret!', false],
  ['', '', true],
  ['ä', 'a', false],
  ['ab', Buffer.from('ab'), true],
  [Buffer.from([1, 2]), Buffer.from([1, 3]), false],
])('compares %j and %j', (one, other, equal) => {
  expect(timingSafeEqual(one, other)).toBe(equal);
});
