import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accessTo,
  nameOf,
  readAnonymousAccess,
  withPermission,
  writeAnonymousAccess,
  type Permission,
} from './anonymous-policy.ts';

function parse(document: string | undefined): unknown {
  return document === undefined ? undefined : JSON.parse(document);
}

function set(policy: unknown, prefix: string, permission: Permission): unknown {
  return parse(writeAnonymousAccess(withPermission(readAnonymousAccess(policy, 'b'), prefix, permission), 'b'));
}

const foreign = { Effect: 'Deny', Principal: '*', Action: 's3:*', Resource: 'arn:aws:s3:::b/secret*' };
const listForAll = { Effect: 'Allow', Principal: '*', Action: ['s3:ListBucket'], Resource: ['arn:aws:s3:::b'] };

describe('a permission', () => {
  it.each(['download', 'upload', 'public'] as const)('%s is read back from the policy that gives it', (permission) => {
    const access = readAnonymousAccess(set(undefined, 'x/', permission), 'b');
    expect([nameOf(accessTo(access, 'x/y')), nameOf(accessTo(access, 'z'))]).toEqual([permission, undefined]);
    expect(access.others).toEqual([]);
  });

  it('that is taken leaves no policy', () => {
    expect(set(set(undefined, '', 'public'), '', 'private')).toBeUndefined();
  });

  it.each([foreign, listForAll])('leaves the statement %j as it is', (statement) => {
    const given = set({ Version: '2012-10-17', Statement: [statement] }, 'x', 'upload');
    expect(given).toMatchObject({ Statement: expect.arrayContaining([statement]) as unknown });
    expect(set(given, 'x', 'private')).toEqual({ Version: '2012-10-17', Statement: [statement] });
  });

  it('is read from the form of other clients', () => {
    const access = readAnonymousAccess(
      {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { AWS: ['*'] },
            Action: ['s3:GetBucketLocation'],
            Resource: ['arn:aws:s3:::b'],
          },
          { Effect: 'Allow', Principal: { AWS: '*' }, Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*' },
        ],
      },
      'b',
    );
    expect([nameOf(accessTo(access, '')), access.others]).toEqual(['download', []]);
  });

  it('of another bucket, with a condition or with a wildcard is none of ours', () => {
    const statement = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*' };
    for (const changed of [
      { Resource: 'arn:aws:s3:::other/*' },
      { Resource: 'arn:aws:s3:::b/*/x*' },
      { Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } },
      { NotAction: 's3:DeleteObject' },
    ]) {
      const access = readAnonymousAccess({ Statement: [{ ...statement, ...changed }] }, 'b');
      expect([access.permissions.size, access.others.length]).toEqual([0, 1]);
    }
  });

  it('is independent of those of other prefixes', () => {
    const permission = fc.constantFrom<Permission>('private', 'download', 'upload', 'public');
    const changes = fc.array(fc.tuple(fc.constantFrom('', 'a/', 'b/c'), permission), { maxLength: 8 });
    fc.assert(
      fc.property(changes, (list) => {
        const policy = list.reduce<unknown>((before, [prefix, given]) => set(before, prefix, given), {
          Statement: [foreign],
        });
        const access = readAnonymousAccess(policy, 'b');
        expect(access.others).toEqual([foreign]);
        for (const [prefix, given] of new Map(list)) {
          expect(nameOf(access.permissions.get(prefix) ?? { read: false, write: false }) ?? 'private').toBe(given);
        }
      }),
      { numRuns: 200 },
    );
  });
});
