import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareInstants, instant } from '../contract/instant.ts';
import { orderAfter, orderAt, orderOfId, timeOfOrder } from './version-order.ts';

const moments = fc
  .record({ milliseconds: fc.integer({ min: 0, max: 2 ** 47 }), nanoseconds: fc.integer({ min: 0, max: 999_999 }) })
  .map(({ milliseconds, nanoseconds }) => instant(milliseconds, nanoseconds));

it('is sorted as the times of the versions, to the nanosecond', () => {
  fc.assert(
    fc.property(moments, moments, (one, other) => {
      const byTime = Math.sign(compareInstants(one, other));
      expect(Math.sign(orderAt(one).localeCompare(orderAt(other)))).toBe(byTime);
      if (byTime !== 0) expect(orderOfId('a', one) < orderOfId('b', other)).toBe(byTime < 0);
    }),
  );
});

it('has the time of a version from elsewhere', () => {
  fc.assert(
    fc.property(moments, fc.string(), (time, id) => {
      expect(timeOfOrder(orderOfId(id, time))).toBe(time);
    }),
  );
  expect(instant(7, 0)).toBe(7);
  expect(instant(7, 30)).toBe('7.000030');
});

it('keeps the rank that versions of one time have elsewhere, whatever their ids', () => {
  fc.assert(
    fc.property(moments, fc.string(), fc.string(), fc.integer({ min: 0, max: 65_534 }), (time, one, other, rank) => {
      expect(orderOfId(one, time, rank) < orderOfId(other, time, rank + 1)).toBe(true);
    }),
  );
});

it('is counted up within its time', () => {
  expect(orderAfter('019aa7b135fb0003e700000000000000')).toBe('019aa7b135fb0003e700000000000001');
  expect(orderAfter('019aa7b135fb0003e7ffffffffffffff')).toBe('019aa7b135fb0003e700000000000000');
});
