import { describe, expect, it } from 'vitest';
import { anonymousAccess, withAnonymousAccess } from './anonymous-access.ts';

const own = {
  Sid: 'Team',
  Effect: 'Allow',
  Principal: { AWS: ['arn:aws:iam:::user/ann'] },
  Action: 's3:*',
  Resource: 'arn:aws:s3:::docs/*',
};
const team = JSON.stringify({ Version: '2012-10-17', Statement: [own] });

describe('the choice for people without an account', () => {
  it.each(['none', 'download', 'upload', 'public'] as const)('%s is found again in the policy', (choice) => {
    expect(anonymousAccess(withAnonymousAccess(team, 'docs', choice), 'docs')).toBe(choice);
  });

  it('keeps the other statements, and replaces its own', () => {
    const open = withAnonymousAccess(team, 'docs', 'public');
    const closed = withAnonymousAccess(open, 'docs', 'none');
    expect(JSON.parse(closed ?? '')).toMatchObject({ Statement: [own] });
  });

  it('leaves no empty policy', () => {
    expect(withAnonymousAccess(withAnonymousAccess(undefined, 'docs', 'download'), 'docs', 'none')).toBeUndefined();
  });

  it.each(['*', { AWS: '*' }, { AWS: ['*'] }])('is another one where a statement allows %j', (Principal) => {
    const statement = { Effect: 'Allow', Principal, Action: 's3:GetObject', Resource: 'arn:aws:s3:::docs/a/*' };
    expect(anonymousAccess(JSON.stringify({ Statement: statement }), 'docs')).toBe('other');
  });
});
