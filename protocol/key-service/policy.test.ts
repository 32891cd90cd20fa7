import { describe, expect, it } from 'vitest';
import { allowsPath, policyPatternProblem } from './policy.ts';

const allowing = (...allow: string[]) => ({ allow, deny: [] });

describe('a policy of the key service', () => {
  it.each([
    ['/v1/key/create/*', '/v1/key/create/my-key', true],
    ['/v1/key/create/tenant-a-*', '/v1/key/create/tenant-a-1', true],
    ['/v1/key/create/tenant-a-*', '/v1/key/create/tenant-b-1', false],
    ['/v1/key/*', '/v1/key/create/my-key', false],
    ['/v1/key/*/my-key', '/v1/key/create/my-key', true],
    ['/v1/key/create/key-?', '/v1/key/create/key-1', true],
    ['/v1/key/create/key-[0-4]', '/v1/key/create/key-5', false],
    ['/v1/key/create/key-[0-4]', '/v1/key/create/key-4', true],
    ['/v1/status', '/v1/status', true],
    ['/v1/status', '/v1/statusx', false],
    ['/v1/key/create/a.c', '/v1/key/create/abc', false],
  ])('%s covers %s: %s', (pattern, path, expected) => {
    expect(allowsPath(allowing(pattern), path)).toBe(expected);
  });

  it.each(['/v1/key/list', '/v1/key/bulk/decrypt'])(
    'covers any name after %s, as the specification writes it',
    (path) => {
      expect(allowsPath(allowing(path), `${path}/my-key`)).toBe(true);
      expect(allowsPath(allowing(path), path)).toBe(true);
      expect(allowsPath(allowing(path), `${path}x`)).toBe(false);
    },
  );

  it('covers no name after another path without a tail', () => {
    expect(allowsPath(allowing('/v1/key/decrypt'), '/v1/key/decrypt/my-key')).toBe(false);
  });

  it('refuses what is denied although it is allowed', () => {
    const policy = { allow: ['/v1/key/delete/*'], deny: ['/v1/key/delete/root-*'] };
    expect(allowsPath(policy, '/v1/key/delete/root-1')).toBe(false);
    expect(allowsPath(policy, '/v1/key/delete/other')).toBe(true);
  });

  it('reads a trailing star of a denial as any tail', () => {
    expect(allowsPath({ allow: ['/v1/key/delete/*'], deny: ['/v1/key/*'] }, '/v1/key/delete/x')).toBe(false);
  });

  it('refuses everything by default', () => {
    expect(allowsPath({ allow: [], deny: [] }, '/v1/status')).toBe(false);
  });

  it('does not let a list of everything through a pattern for one character', () => {
    expect(allowsPath(allowing('/v1/key/list/?'), '/v1/key/list/*')).toBe(false);
    expect(allowsPath(allowing('/v1/key/list/[!-z]'), '/v1/key/list/*')).toBe(false);
    expect(allowsPath(allowing('/v1/key/list/tenant-a-*'), '/v1/key/list/tenant-a-*')).toBe(true);
    expect(allowsPath(allowing('/v1/key/list/tenant-a-*'), '/v1/key/list/*')).toBe(false);
  });

  it('says what is wrong with a pattern', () => {
    expect(policyPatternProblem('v1/status')).toMatch(/begins with "\/"/);
    expect(policyPatternProblem('/v1/[a')).toMatch(/without its "]"/);
    expect(policyPatternProblem('/v1/key/create/*')).toBeUndefined();
  });
});
