import { describe, expect, it } from 'vitest';
import { applies, both, holds, type Actual } from '../../test/support/policy/policy-cases.ts';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html */
describe('keys with several values', () => {
  it.each<[string, unknown, Actual, boolean]>([
    // ForAllValues: each value of the request is one of the policy's.
    ['ForAllValues:StringEquals', ['PostDateTime', 'Message', 'Tags'], ['PostDateTime', 'Message'], true],
    ['ForAllValues:StringEquals', ['PostDateTime', 'Message', 'Tags'], ['PostDateTime', 'UserName'], false],
    ['ForAllValues:StringEquals', ['PostDateTime', 'Message', 'Tags'], ['UserName'], false],
    ['ForAllValues:StringEquals', ['a', 'b'], ['a'], true],
    ['ForAllValues:StringEquals', ['a', 'b'], ['b', 'a', 'b'], true],
    ['ForAllValues:StringEquals', ['a'], ['A'], false],
    ['ForAllValues:StringEquals', ['a'], [], true],
    ['ForAllValues:StringEquals', ['a'], undefined, true],
    ['ForAllValues:StringLike', ['Created*'], ['CreatedBy', 'CreatedAt'], true],
    ['ForAllValues:StringLike', ['Created*'], ['CreatedBy', 'Owner'], false],
    ['ForAllValues:StringNotEquals', ['a', 'b'], ['c', 'd'], true],
    ['ForAllValues:StringNotEquals', ['a', 'b'], ['c', 'a'], false],
    ['ForAllValues:StringNotEquals', ['a', 'b'], ['a', 'b'], false],
    ['ForAllValues:StringNotEquals', ['a'], undefined, true],
    ['ForAllValues:StringNotLike', ['key*'], ['key1', 'x'], false],
    ['ForAllValues:StringNotLike', ['key*'], ['x', 'y'], true],
    // A text that is empty is a value here.
    ['ForAllValues:StringEquals', ['a'], [''], false],
    // ForAnyValue: some value of the request is one of the policy's.
    ['ForAnyValue:StringEquals', ['ID', 'PostDateTime'], ['UserName', 'Message', 'PostDateTime'], true],
    ['ForAnyValue:StringEquals', ['ID', 'PostDateTime'], ['UserName', 'Message'], false],
    ['ForAnyValue:StringEquals', ['a'], ['a'], true],
    ['ForAnyValue:StringEquals', ['a'], [], false],
    ['ForAnyValue:StringEquals', ['a'], undefined, false],
    ['ForAnyValue:StringEqualsIgnoreCase', ['A'], ['b', 'a'], true],
    ['ForAnyValue:StringLike', ['key*'], ['x', 'key1'], true],
    ['ForAnyValue:StringLike', ['key*'], ['x'], false],
    // Negated: some value is none of the policy's.
    ['ForAnyValue:StringNotEquals', ['a', 'b'], ['a', 'c'], true],
    ['ForAnyValue:StringNotEquals', ['a', 'b'], ['a', 'b'], false],
    ['ForAnyValue:StringNotEquals', ['a'], undefined, false],
    ['ForAnyValue:StringNotLike', ['a*'], ['ab', 'b'], true],
    // Without a prefix: any value fits; negated, none does.
    ['StringEquals', ['a', 'x'], ['b', 'a'], true],
    ['StringEquals', ['a'], ['b', 'c'], false],
    ['StringNotEquals', ['a'], ['b', 'a'], false],
    ['StringNotEquals', ['a'], ['b', 'c'], true],
    ['StringNotLike', ['a*'], ['b', 'ab'], false],
    ['NumericLessThan', ['5'], ['9', '4'], true],
    ['NotIpAddress', ['10.0.0.0/8'], ['11.0.0.1', '10.0.0.1'], false],
    ['foranyvalue:stringlike', ['a*'], ['ab'], true],
    ['FORALLVALUES:STRINGLIKEIFEXISTS', ['a*'], undefined, true],
  ])('%s %j on %j: %s', (operator, expected, actual, outcome) => {
    expect(holds(operator, expected, actual)).toEqual(both(outcome));
  });

  it.each([
    'ForSomeValues:StringEquals',
    'ForAnyValue:',
    'ForAnyValue',
    'StringEquals:ForAnyValue',
    'ForAllValues:ForAnyValue:StringEquals',
    'IfExists',
    'StringEqualsIfExistsIfExists',
  ])('%s is no operator', (operator) => {
    expect(() => holds(operator, 'a', 'a')).toThrow(/is no condition operator/);
  });

  it('are told from one that cannot be read only where that matters', () => {
    expect(holds('ForAnyValue:NumericEquals', '1', ['x', '1'])).toEqual(both(true));
    expect(holds('ForAnyValue:NumericEquals', '1', ['x', '2'])).toEqual({ allow: false, deny: true });
    expect(holds('ForAllValues:NumericEquals', '1', ['x', '2'])).toEqual(both(false));
    expect(holds('ForAllValues:NumericEquals', '1', ['x', '1'])).toEqual({ allow: false, deny: true });
  });
});

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-logic-multiple-context-keys-or-values.html */
describe('several conditions', () => {
  const context = { 's3:prefix': ['home/'], 's3:max-keys': ['10'], 'aws:SourceIp': ['10.1.1.1'] };
  const all = { Effect: 'Allow', Action: 's3:*', Resource: '*' } as const;

  it.each<[string, Record<string, Record<string, unknown>>, boolean]>([
    ['operators must all hold', { StringEquals: { 's3:prefix': 'home/' }, NumericEquals: { 's3:max-keys': 10 } }, true],
    ['operators must all hold', { StringEquals: { 's3:prefix': 'home/' }, NumericEquals: { 's3:max-keys': 9 } }, false],
    ['keys must all hold', { StringEquals: { 's3:prefix': 'home/', 's3:max-keys': '10' } }, true],
    ['keys must all hold', { StringEquals: { 's3:prefix': 'home/', 's3:max-keys': '9' } }, false],
    ['one value of a list is enough', { StringEquals: { 's3:prefix': ['etc/', 'home/'] } }, true],
    ['negated, none of a list may fit', { StringNotEquals: { 's3:prefix': ['etc/', 'home/'] } }, false],
    [
      'a range by two operators',
      { NumericGreaterThan: { 's3:max-keys': 5 }, NumericLessThan: { 's3:max-keys': 11 } },
      true,
    ],
    [
      'a range by two operators',
      { NumericGreaterThan: { 's3:max-keys': 5 }, NumericLessThan: { 's3:max-keys': 10 } },
      false,
    ],
    [
      'Null guards ForAllValues',
      { 'ForAllValues:StringEquals': { 's3:x-amz-tag-keys': 'a' }, Null: { 's3:x-amz-tag-keys': 'false' } },
      false,
    ],
    ['none at all', {}, true],
    ['keys without regard to case', { StringEquals: { 'S3:Prefix': 'home/' } }, true],
    ['keys without regard to case', { IpAddress: { 'AWS:sourceIP': '10.0.0.0/8' } }, true],
  ])('%s: %j', (_, Condition, outcome) => {
    expect(applies({ ...all, Condition }, { context })).toBe(outcome);
    expect(applies({ ...all, Effect: 'Deny', Condition }, { context })).toBe(outcome);
  });

  it('are refused where an operator names a key twice in different spelling', () => {
    const twice = { StringLike: { 's3:prefix': 'a' }, stringlike: { 'S3:Prefix': 'b' } };
    expect(() => applies({ ...all, Condition: twice })).toThrow(/is written twice/);
  });
});
