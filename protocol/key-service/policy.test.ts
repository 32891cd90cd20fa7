import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowsPath, matchesNoCall, missingPermissions } from './policy.ts';
import { routes } from './routes.ts';

const allowing = (...allow: string[]) => ({ allow, deny: [] });

describe('a policy of the key service', () => {
  it.each([
    ['/v1/key/create/*', '/v1/key/create/my-key', true],
    ['/v1/key/create/tenant-a-*', '/v1/key/create/tenant-a-1', true],
    ['/v1/key/create/tenant-a-*', '/v1/key/create/tenant-b-1', false],
    ['/v1/key/*', '/v1/key/create/my-key', true],
    ['/v1/key/*', '/v1/status', false],
    ['/v1/*', '/v1/key/create/my-key', true],
    ['/v1/*', '/version', false],
    ['/v1/*/create/my-key', '/v1/key/bulk/create/my-key', false],
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

  it('covers any pattern after /v1/key/list, as the specification writes it', () => {
    const list = allowing('/v1/key/list');
    expect(allowsPath(list, '/v1/key/list/my-key')).toBe(true);
    expect(allowsPath(list, '/v1/key/list')).toBe(true);
    expect(allowsPath(list, '/v1/key/listx')).toBe(false);
  });

  it('reaches no key by a line that names none, whatever the call', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
    const ofKeys = routes.filter(({ argument, path }) => argument === 'name' && path.startsWith('/v1/key/'));
    const nameless = fc.constantFrom(...ofKeys.flatMap(({ path }) => [path, `${path}/`, `${path}?`, `${path}?*x`]));
    fc.assert(
      fc.property(fc.array(nameless), fc.constantFrom(...ofKeys), name, (allow, { path }, name) => {
        expect(allowsPath({ allow, deny: [] }, `${path}/${name}`)).toBe(false);
      }),
    );
  });

  it('reaches by a prefix the keys of that prefix alone, whatever the call', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
    const ofKeys = routes.filter(({ argument, path }) => argument === 'name' && path.startsWith('/v1/key/'));
    const call = fc.constantFrom(...ofKeys);
    fc.assert(
      fc.property(call, call, name, name, (allowed, asked, prefix, name) => {
        const isIn = allowed.path === asked.path && name.startsWith(prefix);
        expect(allowsPath(allowing(`${allowed.path}/${prefix}*`), `${asked.path}/${name}`)).toBe(isIn);
        expect(allowsPath(allowing(`${allowed.path}/${prefix}*`), asked.path)).toBe(false);
      }),
    );
  });

  it('denies any name by a denial of bulk decryption that names none', () => {
    const policy = { allow: ['/v1/key/bulk/decrypt/*'], deny: ['/v1/key/bulk/decrypt'] };
    expect(allowsPath(policy, '/v1/key/bulk/decrypt/my-key')).toBe(false);
  });

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

  it.each([
    ['/v1/key/*', false],
    ['/v1/*', false],
    ['/*', false],
    ['/v1/status', false],
    ['/v1/key/list', false],
    ['/v1/key/create/tenant-*', false],
    ['/v1/key/[cd]*/a', false],
    ['*', false],
    ['v1/status', true],
    ['//v1/key/create/*', true],
    ['/v1/key/make/*', true],
    ['/v2/*', true],
    ['/v1/key/create', true],
    ['/v1/statuses', true],
    ['/v1/secret/read/*', true],
    ['/v1/enclave/create/*', true],
  ])('%s matches no call: %s', (pattern, expected) => {
    expect(matchesNoCall(pattern)).toBe(expected);
  });

  it('matches nothing by a pattern with a mistake', () => {
    for (const pattern of ['/v1/[a', '/v1/[z-a]*', '/v1/[]'])
      expect([allowsPath(allowing(pattern), '/v1/status'), matchesNoCall(pattern)]).toEqual([false, true]);
  });

  it('allows everything by a star alone', () => {
    for (const path of ['/v1/status', '/v1/key/create/k', '/v1/key/list/*']) {
      expect(allowsPath(allowing('*'), path)).toBe(true);
    }
  });
});

const identity = 'a'.repeat(64);
const all = ['/v1/key/generate/k', '/v1/key/decrypt/k'];
const specified = [
  '/v1/key/create/*',
  '/v1/key/generate/*',
  '/v1/key/decrypt/*',
  '/v1/key/bulk/decrypt',
  '/v1/key/list',
];

describe('the permissions that a server lacks', () => {
  it('are none with the paths of the specification, and none for the superuser', () => {
    expect(missingPermissions({ identity, policy: { allow: specified } }, 'k')).toEqual([]);
    expect(missingPermissions({ identity, admin: true }, 'k')).toEqual([]);
  });

  it('are named by the path that the policy must allow', () => {
    expect(missingPermissions({ identity, policy: { allow: ['/v1/key/generate/*'] } }, 'k')).toEqual([
      '/v1/key/decrypt/k',
    ]);
  });

  it('are all of them where no policy is for the server', () => {
    expect(missingPermissions({ identity, policy: {} }, 'k')).toEqual(all);
  });

  it('count what is denied', () => {
    expect(missingPermissions({ identity, policy: { allow: specified, deny: ['/v1/key/decrypt/*'] } }, 'k')).toEqual([
      '/v1/key/decrypt/k',
    ]);
  });

  it('are read from the form of later key services too', () => {
    const later = { identity, policy: 'app', allow: { '/v1/key/generate/*': {} } };
    expect(missingPermissions(later, 'k')).toEqual(['/v1/key/decrypt/k']);
  });
});
