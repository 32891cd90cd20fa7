import { describe, expect, it } from 'vitest';
import { claimContext, claimVariables, isUnknownClaim, policyClaims } from './condition-keys.ts';

const { claims } = policyClaims({
  sub: 's',
  department: 'hr',
  level: 7,
  roles: ['a', 'b'],
  'own.name': 'first',
  own: { name: 'first', deep: { text: 'd' } },
  'kubernetes.io': { namespace: 'team' },
  long: 'x'.repeat(2_000),
  empty: null,
});
const claimant = { source: 'openid', claims } as const;

describe('the claims of a token for policies', () => {
  it('are all its texts, nested ones with dots', () => {
    expect(claimVariables(claimant)).toEqual({
      'jwt:sub': 's',
      'jwt:department': 'hr',
      'jwt:own.name': 'first',
      'jwt:own.deep.text': 'd',
      'jwt:kubernetes.io.namespace': 'team',
      'jwt:kubernetes.io/namespace': 'team',
    });
  });

  it('are condition keys, with no value where they are of another form', () => {
    expect(claimContext(claimant)).toMatchObject({
      'jwt:department': ['hr'],
      'jwt:roles': ['a', 'b'],
      'jwt:level': [],
      'jwt:long': [],
      'jwt:empty': [],
    });
  });

  it('are bounded: what is too much is there without a value', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`claim-${at}`, 'x'.repeat(1_000)]));
    const { claims: kept } = policyClaims({ ...many, sub: 's' });
    expect(kept['sub']).toBe('s');
    expect(JSON.stringify(kept).length).toBeLessThan(20_000);
    expect(kept['claim-39']).toBeNull();
  });

  it('are known to be incomplete where there are too many names, or too deep ones', () => {
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`c${at}`, '']));
    for (const kept of [
      policyClaims({ ...many, team: 'a' }),
      policyClaims({ a: { b: { c: { d: { e: { f: '' } } } } } }),
    ]) {
      expect(kept.claimsKept).toBe('part');
      expect(isUnknownClaim({ source: 'openid', ...kept }, 'jwt:team')).toBe(true);
    }
    expect(isUnknownClaim({ source: 'openid', ...policyClaims({ sub: 's' }) }, 'jwt:team')).toBe(false);
  });

  it('leave the length of a list of groups out of the limit', () => {
    const groups = Array.from({ length: 2_000 }, (_, at) => `group-${at}`);
    expect(policyClaims({ groups, team: 'a' })).toEqual({ claims: { groups, team: 'a' }, claimsKept: 'all' });
  });

  it.each([
    ['sub', { Sub: 'forged', sub: 's' }],
    ['sub', { sub: 's', SUB: 'forged' }],
    ['sub', { Sub: 'forged', sub: 7 }],
    ['Team', { Team: 'first', team: 'second' }],
    ['Team', { Team: 'first', team: ['first'] }],
    ['own.name', { 'own.name': 'first', own: { Name: 'second' } }],
  ])('have no known value where names differ by case alone and values do, too: %s', (name, token) => {
    const kept = policyClaims(token);
    expect(kept).toMatchObject({ claims: { [name]: null }, claimsKept: 'all' });
    expect(isUnknownClaim({ source: 'openid', ...kept }, `jwt:${name.toLowerCase()}`)).toBe(true);
  });

  it('have their value where names that differ by case have the same one', () => {
    expect(policyClaims({ Team: ['a', 'b'], team: ['a', 'b'] }).claims).toEqual({ Team: ['a', 'b'] });
  });

  it('have no known value either where the other of two such names is beyond the limit', () => {
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`c${at}`, '']));
    expect(policyClaims({ team: 'a', ...many, Team: 'b' }).claims['team']).toBeNull();
  });

  it.each([
    ['a list of claims that many providers have', { source: 'openid', claims: { sub: 's' } }, 'jwt:team', true],
    ['that list, which has all of its own', { source: 'openid', claims: { sub: 's' } }, 'jwt:email', false],
    ['that list and a value', { source: 'openid', claims: { Team: 'a' } }, 'jwt:team', false],
    ['all', { source: 'openid', claims: { level: null }, claimsKept: 'all' }, 'jwt:level', true],
    ['all', { source: 'openid', claims: {}, claimsKept: 'all' }, 'aws:username', false],
    ['all of a plugin', { source: 'custom', claims: {}, claimsKept: 'all' }, 'jwt:team', false],
    ['a part of a plugin', { source: 'custom', claims: {}, claimsKept: 'part' }, 'jwt:team', true],
    ['none of a certificate', { source: 'certificate', claims: {} }, 'jwt:team', false],
  ] as const)('of a session with %s: is %j unknown by %s: %s', (_, of, key, expected) => {
    expect(isUnknownClaim(of, key)).toBe(expected);
  });

  it('of a directory are unknown where they are too long', () => {
    const groups = ['a', 'x'.repeat(1_025)];
    expect(isUnknownClaim({ source: 'ldap', claims: { groups } }, 'ldap:groups')).toBe(true);
    expect(isUnknownClaim({ source: 'ldap', claims: { groups: ['a'] } }, 'ldap:groups')).toBe(false);
    expect(isUnknownClaim({ source: 'ldap', claims: { groups } }, 'jwt:team')).toBe(false);
  });
});
