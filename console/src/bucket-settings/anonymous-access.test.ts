import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import { bucketPolicies } from '../../../test/support/s3-documents/policy.ts';
import { anonymousAccess, withAnonymousAccess } from './anonymous-access.ts';

const own = {
  Sid: 'Team',
  Effect: 'Allow',
  Principal: { AWS: ['arn:aws:iam:::user/ann'] },
  Action: 's3:*',
  Resource: 'arn:aws:s3:::docs/*',
};
const team = JSON.stringify({ Version: '2012-10-17', Statement: [own] });

const choices = ['none', 'download', 'upload', 'public'] as const;

function isOther({ Sid = '' }: { readonly Sid?: string }): boolean {
  return !Sid.startsWith('CofferAnonymous');
}

/** The statements that the page does not write, as the server understands them. */
function othersParsed(text: string) {
  const { version, statements } = parseBucketPolicy(text, 'docs');
  return { version, statements: statements.filter(({ sid }) => isOther({ Sid: sid })) };
}

describe('the choice for people without an account', () => {
  it.each(choices)('%s is found again in the policy', (choice) => {
    expect(anonymousAccess(withAnonymousAccess(team, 'docs', choice), 'docs')).toBe(choice);
  });

  it('keeps the other statements, and replaces its own', () => {
    const open = withAnonymousAccess(team, 'docs', 'public');
    const closed = withAnonymousAccess(open, 'docs', 'none');
    expect(JSON.parse(closed ?? '')).toMatchObject({ Statement: [own] });
  });

  it('keeps the Id, the version and every other statement of each policy', () => {
    fc.assert(
      fc.property(bucketPolicies('docs'), fc.constantFrom(...choices), (policy, choice) => {
        const next = withAnonymousAccess(policy, 'docs', choice);
        const { Statement: before, ...rest } = JSON.parse(policy) as { Statement: object };
        const others = [before].flat().filter(isOther);
        if (next === undefined) {
          expect(others).toEqual([]);
          return;
        }
        const { Statement: after, ...kept } = JSON.parse(next) as { Statement: object };
        expect(kept).toEqual(rest);
        expect([after].flat().filter(isOther)).toEqual(others);
      }),
      { numRuns: 500 },
    );
  });

  it('means the same for every other statement', () => {
    fc.assert(
      fc.property(bucketPolicies('docs'), fc.constantFrom(...choices), (policy, choice) => {
        const next = withAnonymousAccess(policy, 'docs', choice);
        if (next !== undefined) expect(othersParsed(next)).toEqual(othersParsed(policy));
      }),
      { numRuns: 500 },
    );
  });

  it('leaves a policy that has the choice as it was written', () => {
    fc.assert(
      fc.property(bucketPolicies('docs'), (policy) => {
        const now = anonymousAccess(policy, 'docs');
        if (now !== 'other') expect(withAnonymousAccess(policy, 'docs', now)).toBe(policy);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves no empty policy', () => {
    expect(withAnonymousAccess(withAnonymousAccess(undefined, 'docs', 'download'), 'docs', 'none')).toBeUndefined();
  });

  it.each(['*', { AWS: '*' }, { AWS: ['*'] }])('is another one where a statement allows %j', (Principal) => {
    const statement = { Effect: 'Allow', Principal, Action: 's3:GetObject', Resource: 'arn:aws:s3:::docs/a/*' };
    expect(anonymousAccess(JSON.stringify({ Statement: statement }), 'docs')).toBe('other');
  });
});
