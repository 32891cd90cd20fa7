import { expect, it } from 'vitest';
import { isOtherStore, readMissing, readOtherStore, writeOtherStore } from './waits-for.ts';

const store = '11111111-1111-4111-8111-111111111111';

it.each([
  { store, tenant: undefined },
  { store, tenant: '22222222-2222-4222-8222-222222222222' },
])('a refused store is read as it was written: %j', (refused) => {
  const written = writeOtherStore(refused);
  expect(isOtherStore(written)).toBe(true);
  expect(readMissing(written)).toBe(written);
  expect(readOtherStore(written)).toEqual(refused);
});

it.each(['start', 'store:', `store:${store}:`, `store:${store}:a b`, `store:${store}:one:two`])(
  '%j does not name a refused store',
  (text) => {
    expect(readOtherStore(text)).toBeUndefined();
  },
);
