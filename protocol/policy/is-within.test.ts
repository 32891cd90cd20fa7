import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluate.ts';
import { isUnrestricted, isWithin } from './is-within.ts';
import { parsePolicyDocument } from './parse-policy.ts';
import { builtInPolicies } from './built-in-policies.ts';
import { request, statements } from '../../test/support/policy/policy-arbitraries.ts';
import type { WrittenStatement } from '../../test/support/policy/policy-cases.ts';

const policy = (...written: readonly WrittenStatement[]) => parsePolicyDocument({ Statement: written });
const allow = (action: string | readonly string[], resource: string | readonly string[] = '*'): WrittenStatement => ({
  Effect: 'Allow',
  Action: action,
  Resource: resource,
});
const deny = (action: string, resource: string): WrittenStatement => ({
  Effect: 'Deny',
  Action: action,
  Resource: resource,
});
const b = 'arn:aws:s3:::b/*';

describe('a policy is within a boundary', () => {
  it.each<[string, WrittenStatement[], WrittenStatement[]]>([
    ['that is the same', [allow('s3:GetObject', b)], [allow('s3:GetObject', b)]],
    ['of wider patterns', [allow('s3:GetObject', 'arn:aws:s3:::b/a?/*')], [allow('s3:Get*', 'arn:aws:s3:::b/*')]],
    ['of several statements', [allow(['s3:GetObject', 'admin:*'], '*')], [allow('s3:*'), allow('admin:*')]],
    ['that denies something else', [allow('s3:GetObject', b)], [allow('s3:*'), deny('s3:*', 'arn:aws:s3:::c/*')]],
    ['whose Deny it repeats', [allow('s3:*'), deny('s3:*', b)], [allow('s3:*'), deny('s3:*', b)]],
    ['where it denies only', [deny('s3:*', '*')], [allow('s3:GetObject', b)]],
    ['of calls without a resource', [allow('admin:ListUsers', b)], [allow('admin:*', b)]],
    ['of keys', [allow('kms:*', 'arn:minio:kms:::k1')], [allow('kms:*', 'arn:minio:kms:::k*')]],
    [
      'with the same condition',
      [{ ...allow('s3:*'), Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } }],
      [{ ...allow('s3:*'), Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } }],
    ],
  ])('%s', (_, granted, boundary) => {
    expect(isWithin(policy(...granted), policy(...boundary))).toBe(true);
  });

  it.each<[string, WrittenStatement[], WrittenStatement[]]>([
    ['of fewer actions', [allow('s3:*', b)], [allow('s3:Get*', b)]],
    ['of one character', [allow('s3:GetObject', b)], [allow('s3:GetObject', 'arn:aws:s3:::b/?')]],
    ['that denies a part', [allow('s3:*')], [allow('s3:*'), deny('s3:*', b)]],
    ['that denies the bucket', [allow('s3:ListBucket', 'arn:aws:s3:::b')], [allow('s3:*'), deny('s3:*', b)]],
    [
      'whose variable another principal resolves',
      [allow('s3:*', b)],
      [allow('s3:*', 'arn:aws:s3:::${aws:username}/*')],
    ],
    [
      'whose condition is about the principal',
      [{ ...allow('s3:*'), Condition: { StringNotEquals: { 'aws:username': 'ann' } } }],
      [{ ...allow('s3:*'), Condition: { StringNotEquals: { 'aws:username': 'ann' } } }],
    ],
    ['with a condition', [allow('s3:*')], [{ ...allow('s3:*'), Condition: { Bool: { 'aws:SecureTransport': true } } }]],
    ['of the keys alone', [allow('kms:*', '*')], [allow('kms:*', 'arn:minio:kms:::*')]],
    ['by all but', [{ Effect: 'Allow', NotAction: 's3:PutObject', Resource: '*' }], [allow('s3:*')]],
  ])('but not %s', (_, granted, boundary) => {
    expect(isWithin(policy(...granted), policy(...boundary))).toBe(false);
  });

  it('only if no request is allowed by it that the boundary does not allow, whoever asks', () => {
    let within = 0;
    fc.assert(
      fc.property(
        statements(),
        statements(),
        fc.array(request(), { minLength: 20, maxLength: 40 }),
        (one, other, all) => {
          const [granted, boundary] = [policy(...one), policy(...other)];
          // Policies that repeat a part of the boundary are within it more often.
          const mixed = policy(...other.slice(0, 2), ...one.slice(0, 1));
          for (const document of [granted, mixed]) {
            if (!isWithin(document, boundary)) continue;
            within += 1;
            for (const asked of all) {
              if (evaluate([{ name: 'g', document }], asked).effect !== 'allow') continue;
              for (const variables of [asked.variables, {}, { 'aws:username': 'b' }]) {
                const effect = evaluate([{ name: 'b', document: boundary }], { ...asked, variables }).effect;
                expect(effect, JSON.stringify({ asked, variables })).toBe('allow');
              }
            }
          }
        },
      ),
      { numRuns: 1_000 },
    );
    expect(within).toBeGreaterThan(0);
  });
});

describe('a boundary', () => {
  it('excludes nothing if it is as wide as the policy of administrators', () => {
    expect(isUnrestricted(policy(allow('*')))).toBe(true);
    expect(isUnrestricted(builtInPolicies.get('consoleAdmin') ?? policy())).toBe(true);
    expect(isUnrestricted(policy(allow('*'), deny('s3:*', b)))).toBe(false);
    expect(isUnrestricted(policy(allow('admin:*')))).toBe(false);
  });

  it('has the built-in policies within the one of administrators', () => {
    const administrator = builtInPolicies.get('consoleAdmin');
    const built = [...builtInPolicies.values()].filter((one) => administrator && isWithin(one, administrator));
    expect(built).toHaveLength(builtInPolicies.size);
  });
});
