import { expect, it } from 'vitest';
import { isServerError } from './server-error.ts';

it.each([
  [200, false],
  [404, false],
  [499, false],
  [500, true],
  [501, false],
  [503, true],
])('counts %i as an error of the server: %s', (status, expected) => {
  expect(isServerError(status)).toBe(expected);
});
