import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { couldAllow, couldDeny } from './could-allow.ts';
import { decide } from './decide.ts';
import { parseBucketPolicy } from './parse-policy.ts';
import { request, statements } from '../../test/support/policy/policy-arbitraries.ts';
import { policyOf, requestOf, type WrittenStatement } from '../../test/support/policy/policy-cases.ts';

const below = { below: true, keys: [] };
const allow = (more: Partial<WrittenStatement> = {}): WrittenStatement => ({
  Effect: 'Allow',
  Action: 's3:DeleteObject',
  Resource: 'arn:aws:s3:::bucket/*',
  ...more,
});
const deny = (more: Partial<WrittenStatement> = {}): WrittenStatement => ({ ...allow(more), Effect: 'Deny' });
const asked = requestOf({ action: 's3:DeleteObject', resource: 'bucket/', variables: { 'aws:username': 'ann' } });
const at = (resource: string) => allow({ Resource: `arn:aws:s3:::${resource}` });

const ofKey = (Action: string, Resource: string): WrittenStatement => ({ Effect: 'Allow', Action, Resource });

describe('whether a key of a bucket could be deleted', () => {
  it.each<[string, boolean, readonly WrittenStatement[]]>([
    ['nothing', false, []],
    ['the whole bucket', true, [allow()]],
    ['a folder of it', true, [at('bucket/a/*')]],
    ['one key', true, [at('bucket/a')]],
    ['everything', true, [allow({ Resource: '*' })]],
    ['buckets that begin so', true, [at('buck*')]],
    ['a pattern', true, [at('b?cket/*x')]],
    ['a folder of the caller', true, [at('bucket/${aws:username}/*')]],
    ['another bucket', false, [at('other/*')]],
    ['the bucket itself', false, [at('bucket')]],
    ['a folder of nobody', false, [at('${jwt:team}/*')]],
    ['another action', false, [allow({ Action: 's3:GetObject' })]],
    ['all but other actions', true, [{ Effect: 'Allow', NotAction: 's3:GetObject', Resource: '*' }]],
    ['a condition that does not hold', false, [allow({ Condition: { Bool: { 'aws:SecureTransport': 'true' } } })]],
    ['the bucket, and denied it', false, [allow(), deny()]],
    ['the bucket, and denied everything', false, [allow(), deny({ Resource: '*' })]],
    ['the bucket, and denied a folder', true, [allow(), deny({ Resource: 'arn:aws:s3:::bucket/a/*' })]],
    ['the bucket, and denied on a condition', true, [allow(), deny({ Condition: { Bool: { 'aws:x': 'true' } } })]],
  ])('by a policy that allows %s', (_what, expected, statementsOfPolicy) => {
    const identity = statementsOfPolicy.length === 0 ? [] : [policyOf(...statementsOfPolicy)];
    expect(couldAllow({ identity, request: asked }, below)).toBe(expected);
  });

  it.each<[string, boolean, readonly WrittenStatement[]]>([
    ['the whole bucket', true, [allow()]],
    ['everything', true, [allow({ Resource: '*' })]],
    ['a pattern that ends with *', true, [at('b?cket/*')]],
    ['all but another bucket', true, [{ Effect: 'Allow', Action: 's3:*', NotResource: 'arn:aws:s3:::other/*' }]],
    ['all but a folder', false, [{ Effect: 'Allow', Action: 's3:*', NotResource: 'arn:aws:s3:::bucket/a/*' }]],
    [
      'all but a folder of nobody',
      false,
      [{ Effect: 'Allow', Action: 's3:*', NotResource: 'arn:aws:s3:::${jwt:team}/*' }],
    ],
    ['a folder', false, [at('bucket/a/*')]],
    ['one key', false, [at('bucket/a')]],
    ['keys of one character', false, [at('bucket/?')]],
    ['keys of some characters', false, [at('bucket/?*')]],
    ['keys that end so', false, [at('bucket/*.csv')]],
    [
      'keys on a condition of the body',
      false,
      [allow({ Condition: { StringNotEquals: { 's3:x-amz-acl': 'private' } } })],
    ],
    ['the bucket, and denied a folder', true, [allow(), deny({ Resource: 'arn:aws:s3:::bucket/a/*' })]],
  ])('all of them by a policy that allows %s: %j', (_what, expected, statementsOfPolicy) => {
    const every = { below: true, every: true, keys: ['s3:x-amz-acl'] };
    expect(couldAllow({ identity: [policyOf(...statementsOfPolicy)], request: asked }, every)).toBe(expected);
  });

  it.each<[string, boolean, string]>([
    ['the whole bucket', true, 'bucket/*'],
    ['keys that begin so', true, 'bucket/a*'],
    ['a key of the folder', true, 'bucket/a'],
    ['a pattern', true, 'bucket/*/x'],
    ['a deeper folder', false, 'bucket/a/*'],
    ['a deeper key', false, 'bucket/a/b'],
  ])('directly in a folder: a policy that allows %s: %j', (_what, expected, resource) => {
    const identity = [policyOf(at(resource))];
    expect(couldAllow({ identity, request: asked }, { ...below, direct: true })).toBe(expected);
  });

  it.each<[string, boolean, readonly WrittenStatement[]]>([
    ['keys that begin so', true, [ofKey('kms:RotateKey', 'arn:minio:kms:::team-*')]],
    ['keys that begin so, by the older name', true, [ofKey('admin:KMSRotateKey', 'arn:minio:kms:::team-*')]],
    ['objects, which never counted', true, [ofKey('kms:RotateKey', 'arn:aws:s3:::team-*')]],
    [
      'all keys, and denied one',
      true,
      [ofKey('kms:*', '*'), { ...ofKey('kms:*', 'arn:minio:kms:::a'), Effect: 'Deny' }],
    ],
    ['all keys, and denied all', false, [ofKey('kms:*', '*'), { ...ofKey('kms:*', '*'), Effect: 'Deny' }]],
    ['another action', false, [ofKey('kms:CreateKey', 'arn:minio:kms:::team-*')]],
  ])('with some key of the key service: a policy that allows %s: %j', (_what, expected, statementsOfPolicy) => {
    const identity = [policyOf(...statementsOfPolicy)];
    const could = ['kms:RotateKey', 'admin:KMSRotateKey'].map((action) =>
      couldAllow({ identity, request: { ...asked, action, resource: '' } }, below),
    );
    expect(could.includes(true)).toBe(expected);
  });

  it('needs each boundary, too', () => {
    const identity = [policyOf(allow())];
    const boundaries = [policyOf(at('other/*'))];
    expect(couldAllow({ identity, boundaries, request: asked }, below)).toBe(false);
  });

  it('asks whom the policy of the bucket is about', () => {
    const document = parseBucketPolicy({ Statement: [{ ...allow(), Principal: { AWS: ['ann'] } }] }, 'bucket');
    const by = (principals: readonly string[]) =>
      couldAllow(
        { identity: [], bucket: { name: 'b', document }, request: { ...asked, principals } },
        { below: true, keys: [] },
      );
    expect([by(['ann']), by([])]).toEqual([true, false]);
  });

  it('leaves out conditions on what the body will say', () => {
    const identity = [policyOf(allow({ Condition: { StringEquals: { 's3:LocationConstraint': 'here' } } }))];
    expect(couldAllow({ identity, request: asked }, below)).toBe(false);
    expect(couldAllow({ identity, request: asked }, { below: true, keys: ['s3:locationconstraint'] })).toBe(true);
  });

  it('never says yes to all of them where the decision on one is no', () => {
    const every = { below: true, every: true, keys: [] };
    const below = fc
      .tuple(request(), fc.constantFrom('s3:GetObject', 's3:PutObject'), fc.constantFrom('a/', 'a/a', 'b/'))
      .map(([any, action, resource]) => ({ ...any, action, resource }));
    let allowed = 0;
    fc.assert(
      fc.property(statements(), below, fc.constantFrom('x', '*', 'a/b', '?'), (own, asked, rest) => {
        const input = { identity: [policyOf(...own)], request: asked };
        if (!couldAllow(input, every) || couldDeny(input, every)) return;
        allowed += 1;
        const one = { ...asked, resource: asked.resource + rest };
        expect(decide({ ...input, request: one }).effect).toBe('allow');
      }),
      { numRuns: 2_000 },
    );
    expect(allowed).toBeGreaterThan(0);
  });

  it('never says no where the decision is yes', () => {
    const objectRequest = fc
      .tuple(request(), fc.constantFrom('s3:GetObject', 's3:PutObject'), fc.constantFrom('a/b', 'a/a/b', 'b/c'))
      .map(([any, action, resource]) => ({ ...any, action, resource }));
    let allowed = 0;
    fc.assert(
      fc.property(statements(), fc.option(statements(), { nil: undefined }), objectRequest, (own, narrow, whole) => {
        const boundaries = narrow === undefined ? [] : [policyOf(...narrow)];
        const input = { identity: [policyOf(...own)], boundaries, request: whole };
        if (decide(input).effect !== 'allow') return;
        allowed += 1;
        const beginning = { ...whole, resource: whole.resource.slice(0, whole.resource.indexOf('/') + 1) };
        expect(couldAllow({ ...input, request: beginning }, below)).toBe(true);
        expect(couldAllow(input, { below: false, keys: [] })).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(allowed).toBeGreaterThan(0);
  });
});
