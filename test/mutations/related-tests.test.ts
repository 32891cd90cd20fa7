import { expect, it } from 'vitest';
import { relatedTests } from './related-tests.ts';

it('finds the tests that import a file, the nearest first, and no test of a heavier tier', () => {
  const { unit, process } = relatedTests('.')('platform/settings/parse-value.ts');
  expect(unit[0]).toMatch(/^platform\/settings\//);
  expect(process).not.toContainEqual(expect.stringMatching(/^test\/cluster\//));
});
