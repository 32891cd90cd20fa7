import { describe, expect, it } from 'vitest';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { authorize } from './authorize.ts';
import { fixedPolicies } from './policy-source.ts';
import type { Principal, TemporaryPrincipal } from './principal.ts';

const document = (...statements: Record<string, unknown>[]) =>
  parsePolicyDocument({ Version: '2012-10-17', Statement: statements });
const allow = (action: string, resource: string) => ({
  Effect: 'Allow',
  Action: [action],
  Resource: [`arn:aws:s3:::${resource}`],
});

const policies = fixedPolicies(
  new Map([
    ['read', document(allow('s3:GetObject', '*'))],
    ['write', document(allow('s3:PutObject', '*'))],
    ['no-secrets', document({ ...allow('s3:*', 'secrets/*'), Effect: 'Deny', Sid: 'NoSecrets' })],
    ['home', document(allow('s3:*', 'home/${jwt:preferred_username}/*'))],
    ['by-parent', document(allow('s3:*', 'home/${aws:username}/*'))],
    [
      'group',
      document({ ...allow('s3:GetObject', 'team/*'), Condition: { StringEquals: { 'jwt:groups': 'developers' } } }),
    ],
  ]),
);

const ann = (changes: Partial<TemporaryPrincipal> = {}): TemporaryPrincipal => ({
  kind: 'temporary',
  accessKey: 'AK',
  parent: 'parent-hash',
  provider: 'P',
  displayName: 'ann',
  policies: ['read'],
  claims: {},
  expiration: new Date(),
  ...changes,
});

const decide = (principal: Principal, action: string, resource: string) =>
  authorize({ principal, action, resource, context: {} }, policies);
const kind = async (principal: Principal, action: string, resource: string) =>
  (await decide(principal, action, resource)).kind;

describe('authorize', () => {
  it('lets root do everything and a stranger nothing', async () => {
    expect(await kind({ kind: 'root', accessKey: 'root' }, 'admin:ServerInfo', '')).toBe('allow');
    expect(await kind({ kind: 'anonymous' }, 's3:GetObject', 'bucket/key')).toBe('deny');
  });

  it('gives the union of the policies and nothing else', async () => {
    const both = ann({ policies: ['read', 'write'] });
    expect(await kind(both, 's3:GetObject', 'bucket/key')).toBe('allow');
    expect(await kind(both, 's3:PutObject', 'bucket/key')).toBe('allow');
    expect(await kind(both, 's3:DeleteObject', 'bucket/key')).toBe('deny');
    expect(await kind(ann(), 's3:PutObject', 'bucket/key')).toBe('deny');
  });

  it('lets one Deny outweigh every Allow', async () => {
    const careful = ann({ policies: ['read', 'no-secrets'] });
    expect(await kind(careful, 's3:GetObject', 'secrets/key')).toBe('deny');
    expect(await kind(careful, 's3:GetObject', 'bucket/key')).toBe('allow');
  });

  it('gives nothing for policies that do not exist, or for none', async () => {
    expect(await kind(ann({ policies: [] }), 's3:GetObject', 'bucket/key')).toBe('deny');
    expect(await decide(ann({ policies: ['gone'] }), 's3:GetObject', 'bucket/key')).toMatchObject({
      kind: 'deny',
      reason: expect.stringContaining('gone') as string,
    });
  });

  it('narrows by the session policy and never widens', async () => {
    const narrowed = ann({ policies: ['read'], sessionPolicy: document(allow('s3:*', 'reports/*')) });
    expect(await kind(narrowed, 's3:GetObject', 'reports/key')).toBe('allow');
    expect(await kind(narrowed, 's3:GetObject', 'bucket/key')).toBe('deny');
    expect(await kind(narrowed, 's3:PutObject', 'reports/key')).toBe('deny');
  });

  it('puts claims into resources, and matches nothing without the claim', async () => {
    const home = ann({ policies: ['home'], claims: { preferred_username: 'ann' } });
    expect(await kind(home, 's3:PutObject', 'home/ann/key')).toBe('allow');
    expect(await kind(home, 's3:PutObject', 'home/bob/key')).toBe('deny');
    expect(await kind(ann({ policies: ['home'] }), 's3:PutObject', 'home//key')).toBe('deny');
  });

  it('gives no wildcard to somebody who calls themselves *', async () => {
    const star = ann({ policies: ['home'], claims: { preferred_username: '*' } });
    expect(await kind(star, 's3:PutObject', 'home/bob/key')).toBe('deny');
  });

  it('names a person by what they cannot choose', async () => {
    const mallory = ann({ policies: ['by-parent'], displayName: 'bob', claims: { preferred_username: 'bob' } });
    expect(await kind(mallory, 's3:PutObject', 'home/bob/key')).toBe('deny');
    expect(await kind(mallory, 's3:PutObject', 'home/parent-hash/key')).toBe('allow');
  });

  it('offers claims, lists too, to conditions', async () => {
    expect(await kind(ann({ policies: ['group'], claims: { groups: 'developers' } }), 's3:GetObject', 'team/key')).toBe(
      'allow',
    );
    expect(await kind(ann({ policies: ['group'], claims: { groups: ['sales'] } }), 's3:GetObject', 'team/key')).toBe(
      'deny',
    );
  });

  it('does not let the request say who it is', async () => {
    const request = { action: 's3:GetObject', resource: 'team/key', context: { 'jwt:groups': ['developers'] } };
    const principal = ann({ policies: ['group'], claims: { groups: 'sales' } });
    expect((await authorize({ ...request, principal }, policies)).kind).toBe('deny');
  });

  it('explains itself by policy and statement', async () => {
    expect((await decide(ann(), 's3:GetObject', 'bucket/key')).reason).toMatch(/ann \(P\).*#1.*"read"/);
    const denied = await decide(ann({ policies: ['read', 'no-secrets'] }), 's3:GetObject', 'secrets/key');
    expect(denied.reason).toMatch(/NoSecrets.*"no-secrets"/);
  });

  it('lets nobody in when policies cannot be read', async () => {
    const broken = { get: () => Promise.reject(new Error('disk')) };
    const request = { principal: ann(), action: 's3:GetObject', resource: 'b/k', context: {} };
    await expect(authorize(request, broken)).rejects.toThrow('disk');
  });
});
