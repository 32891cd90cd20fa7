import { expect, it } from 'vitest';
import { keepsStore, type StoreHolder } from './store-holder.ts';

const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];
const holder = (at: string, created: string, more: Partial<StoreHolder> = {}): StoreHolder => ({
  at,
  created,
  accepted: false,
  serves: true,
  ...more,
});

it.each([
  ['the older one', holder('b/b', early), holder('a/a', late)],
  ['of two of one second the first by name', holder('a/a', early), holder('a/b', early)],
  ['the original, though its accepted copy is older', holder('b/b', late), holder('a/a', early, { accepted: true })],
  [
    'the original, though it is hibernated and its accepted copy serves',
    holder('b/b', late, { serves: false }),
    holder('a/a', early, { accepted: true }),
  ],
  ['the one that serves, though the other is older', holder('b/b', late), holder('a/a', early, { serves: false })],
])('the store of two Tenants is kept by %s', (_title, one, other) => {
  expect(keepsStore(one, other)).toBe(true);
  expect(keepsStore(other, one)).toBe(false);
});
