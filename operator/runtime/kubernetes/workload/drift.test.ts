import { describe, expect, it } from 'vitest';
import { hasAll } from './drift.ts';

describe('a live object has all that was sent', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['with what others added', { a: 1, b: 2 }, { a: 1 }, true],
    ['with an empty object that the API server dropped', {}, { a: {} }, true],
    ['with an empty list that the API server dropped', {}, { a: [] }, true],
    ['but not with an item that somebody put into an empty list', { a: [1] }, { a: [] }, false],
    ['but not with another value', { a: 2 }, { a: 1 }, false],
    ['but not with fewer items', { a: [1] }, { a: [1, 2] }, false],
    ['but not without a field', {}, { a: 1 }, false],
  ])('%s', (_, live, sent, expected) => {
    expect(hasAll(live, sent)).toBe(expected);
  });
});
