import { assert, asyncProperty, integer } from 'fast-check';
import { expect, it } from 'vitest';
import { maxLifetime } from './max-lifetime.ts';

it('is the limit where the policies refuse no age', async () => {
  expect(await maxLifetime(604_800, async () => true)).toBe(604_800);
});

it('is at least a second', async () => {
  expect(await maxLifetime(1, async () => false)).toBe(1);
});

it('is the time until the policies refuse the age, to the second', () =>
  assert(
    asyncProperty(integer({ min: 1, max: 604_800 }), integer({ min: 1, max: 604_800 }), async (limit, max) => {
      expect(await maxLifetime(limit, async (age) => age < max * 1_000)).toBe(Math.min(limit, max));
    }),
  ));

it('asks at most 21 times', async () => {
  let asked = 0;
  await maxLifetime(604_800, async (age) => {
    asked += 1;
    return age < 900_000;
  });
  expect(asked).toBeLessThanOrEqual(21);
});
