import { expect, it } from 'vitest';
import { relatedTests } from './related-tests.ts';

it('finds the tests that import a file, the nearest first, and no test of a heavier tier', () => {
  const { unit, process } = relatedTests('.')('platform/settings/parse-value.ts');
  expect(unit[0]).toMatch(/^platform\/settings\//);
  expect(process).not.toEqual([]);
  expect(process).not.toContainEqual(expect.stringMatching(/^test\/(?:cluster|brokers|clients|select|installed)\//));
});

it('knows what each test needs, as the tests that need least run first', () => {
  const { unit, sockets, process } = relatedTests('.')('platform/openid/discovery.ts');
  expect(sockets).toContain('platform/openid/discovery.process.test.ts');
  expect([...unit, ...process]).not.toContainEqual(expect.stringContaining('.process.test.'));
  expect(process).toSatisfy((names: string[]) => names.every((name) => name.startsWith('test/')));
});
