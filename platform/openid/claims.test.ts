import { describe, expect, it } from 'vitest';
import { claimAt, mergeUserinfo, readUserinfo } from './claims.ts';
import type { LimitedFetch } from '../http/limited-fetch.ts';

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

const url = 'https://idp.example/userinfo';
const answering =
  (status: number, body: string): LimitedFetch =>
  () =>
    Promise.resolve(new Response(body, { status }));

describe('readUserinfo', () => {
  it('sends the bearer and returns the claims', async () => {
    const seen: unknown[] = [];
    const fetch: LimitedFetch = (address, init) => {
      seen.push([address, init?.headers]);
      return Promise.resolve(new Response('{"sub":"s","policy":["a"]}'));
    };
    expect(await readUserinfo(url, 'token', 's', fetch)).toEqual({ sub: 's', policy: ['a'] });
    expect(seen).toEqual([[url, expect.objectContaining({ authorization: 'Bearer token' })]]);
  });

  it('refuses the claims of another user', async () => {
    await expect(readUserinfo(url, 'token', 's', answering(200, '{"sub":"other"}'))).rejects.toMatchObject({
      code: 'UserinfoRefused',
    });
  });

  it.each([
    [401, '{}'],
    [403, '{"error":"insufficient_scope"}'],
    [400, '{"error":"invalid_request"}'],
  ])('takes the token for refused after %i %s', async (status, body) => {
    await expect(readUserinfo(url, 'token', 's', answering(status, body))).rejects.toMatchObject({
      name: 'TokenError',
      code: 'UserinfoRefused',
    });
  });

  it.each([
    [200, 'a.jwt.here'],
    [200, '<html>maintenance</html>'],
    [302, ''],
    [400, '<html>bad request</html>'],
    [403, '<html>forbidden</html>'],
    [404, '<html>not found</html>'],
    [408, ''],
    [421, ''],
    [425, ''],
    [429, '{"error":"too_many_requests"}'],
    [500, '{"error":"server_error"}'],
    [503, ''],
  ])('says nothing about the token after %i %s', async (status, body) => {
    await expect(readUserinfo(url, 'token', 's', answering(status, body))).rejects.toMatchObject({
      name: 'OpenIdError',
      transient: true,
    });
  });

  it.each([
    [401, '', {}, /does not take the token \(401\).*no ID tokens/],
    [403, '{"error":"insufficient_scope"}', {}, /allows the token no claims \(403 insufficient_scope\).*scope openid/],
    [429, '', {}, /answered 429: try again/],
    [503, '', {}, /answered 503: try again/],
    [404, '', {}, /answered 404, and no claims/],
    [
      200,
      'a.jwt.here',
      { 'content-type': 'application/jwt;charset=utf-8' },
      /signed token \(application\/jwt\).*userinfo_signed/,
    ],
  ])('has words of its own for the answer %i %s', async (status, body, headers, message) => {
    const fetch: LimitedFetch = () => Promise.resolve(new Response(body, { status, headers }));
    await expect(readUserinfo(url, 'token', 's', fetch)).rejects.toThrow(message);
  });

  it.each([
    ['Bearer error="invalid_token"', 'TokenError'],
    ['Basic realm="gateway"', 'OpenIdError'],
  ])('reads the challenge %s of a 401', async (challenge, name) => {
    const fetch: LimitedFetch = () =>
      Promise.resolve(new Response('', { status: 401, headers: { 'www-authenticate': challenge } }));
    await expect(readUserinfo(url, 'token', 's', fetch)).rejects.toMatchObject({ name });
  });
});

describe('mergeUserinfo', () => {
  it('adds claims and never replaces what was signed', () => {
    expect(mergeUserinfo({ sub: 's', policy: 'signed' }, { policy: 'added', email: 'e' })).toEqual({
      sub: 's',
      policy: 'signed',
      email: 'e',
    });
  });
});
