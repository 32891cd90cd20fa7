import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bucketPolicies } from '../../../../test/support/s3-documents/policy.ts';
import { accessTo, changeAnonymousAccess, nameOf, readAnonymousAccess, type Permission } from './anonymous-policy.ts';

function set(policy: unknown, prefix: string, permission: Permission): unknown {
  const document = policy === undefined ? undefined : JSON.stringify(policy);
  const changed = changeAnonymousAccess(document, 'b', { prefix, permission });
  return changed === undefined ? undefined : JSON.parse(changed);
}

interface Policy {
  readonly Version?: string;
  readonly Statement: unknown;
}

const versionOf = (text: string) => (JSON.parse(text) as Policy).Version;

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

  it('that is there already leaves the text as it is', () => {
    fc.assert(
      fc.property(bucketPolicies('b'), fc.constantFrom('', 'a/'), (document, prefix) => {
        const { permissions } = readAnonymousAccess(JSON.parse(document), 'b');
        const given = nameOf(permissions.get(prefix) ?? { read: false, write: false }) ?? 'private';
        expect(changeAnonymousAccess(document, 'b', { prefix, permission: given })).toBe(document);
      }),
    );
  });

  it('leaves the version, the ID and every other statement of a policy as they are', () => {
    const permission = fc.constantFrom<Permission>('download', 'upload', 'public');
    fc.assert(
      fc.property(bucketPolicies('b'), permission, (document, given) => {
        const before = JSON.parse(document) as Policy;
        // No statement of the policy is about this prefix.
        const change = { prefix: 'not-there-yet/', permission: given };
        const changed = changeAnonymousAccess(document, 'b', change) ?? '';
        const { Statement: after, ...rest } = JSON.parse(changed) as Policy;
        const { Statement: statements, ...restBefore } = before;
        expect(rest).toEqual(restBefore);
        const { others } = readAnonymousAccess(before, 'b');
        const isOther = (one: unknown) => others.some((other) => isDeepStrictEqual(one, other));
        expect([after].flat().filter(isOther)).toEqual(others);
        const taken = changeAnonymousAccess(changed, 'b', { ...change, permission: 'private' }) ?? '';
        expect(readAnonymousAccess(JSON.parse(taken), 'b')).toEqual(
          readAnonymousAccess({ Statement: statements }, 'b'),
        );
      }),
    );
  });

  it('does not turn the texts of a policy of 2008 into variables', () => {
    const statement = {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: 'arn:aws:s3:::b/${aws:username}',
    };
    const document = JSON.stringify({ Version: '2008-10-17', Id: 'old', Statement: [statement] });
    const changed = changeAnonymousAccess(document, 'b', { prefix: 'x/', permission: 'download' }) ?? '';
    expect(JSON.parse(changed)).toMatchObject({ Version: '2008-10-17', Id: 'old' });
    expect(versionOf(changeAnonymousAccess(undefined, 'b', { prefix: '', permission: 'upload' }) ?? '')).toBe(
      '2012-10-17',
    );
  });

  it('is taken out of a statement for several prefixes, which keeps its ID', () => {
    const resources = ['x/', 'y/'].map((prefix) => `arn:aws:s3:::b/${prefix}*`);
    const statement = { Sid: 'both', Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: resources };
    expect(set({ Version: '2012-10-17', Statement: statement }, 'x/', 'private')).toMatchObject({
      Statement: expect.arrayContaining([{ ...statement, Resource: resources.slice(1) }]) as unknown,
    });
  });
});
