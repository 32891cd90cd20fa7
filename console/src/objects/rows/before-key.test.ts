import { assert, property, string } from 'fast-check';
import { expect, it } from 'vitest';
import { beforeKey } from './before-key.ts';

const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

it('sorts before the key', () => {
  assert(
    property(string({ unit: 'binary', minLength: 1, maxLength: 20 }), (key) => {
      expect(order(beforeKey(key), key)).toBeLessThan(0);
      expect(beforeKey(key).isWellFormed()).toBe(true);
    }),
  );
});

it('leaves out the keys before', () => {
  expect(order(beforeKey('key-0500000'), 'key-0499999')).toBeGreaterThan(0);
});
