import { describe, expect, it } from 'vitest';
import { claimAt } from './claim-at.ts';

const claims = {
  policy: 'readonly',
  'kubernetes.io': { namespace: 'apps', serviceaccount: { name: 'backup' } },
  'https://example.org/roles': ['a'],
  list: [{ a: 1 }],
  realm_access: { roles: ['reader'] },
  'dotted.name': { 'inner.name': 'x' },
};

describe('claimAt', () => {
  it.each([
    ['policy', 'readonly'],
    ['kubernetes.io/namespace', 'apps'],
    ['kubernetes.io/serviceaccount/name', 'backup'],
    ['https://example.org/roles', ['a']],
    ['kubernetes.io/absent', undefined],
    ['realm_access.roles', ['reader']],
    ['realm_access/roles', ['reader']],
    ['dotted.name.inner.name', 'x'],
    ['policy.length', undefined],
    ['.', undefined],
    ['policy/length', undefined],
    ['list/0', undefined],
    ['constructor', undefined],
    ['constructor/name', undefined],
    ['__proto__/x', undefined],
    ['', undefined],
    ['/', undefined],
  ])('%s', (path, expected) => {
    expect(claimAt(claims, path)).toEqual(expected);
  });
});
