import { describe, expect, it } from 'vitest';
import type { PolicyRequest } from './policy-request.ts';
import { applies, both, holds } from '../../test/support/policy/policy-cases.ts';

/** Each operator with a value of the policy, one of the request that it holds for, and one that it does not. */
const operators: readonly (readonly [string, string, good: string, bad: string])[] = [
  ['StringEquals', 'a', 'a', 'b'],
  ['StringNotEquals', 'a', 'b', 'a'],
  ['StringEqualsIgnoreCase', 'a', 'A', 'b'],
  ['StringNotEqualsIgnoreCase', 'a', 'b', 'A'],
  ['StringLike', 'a*', 'ab', 'b'],
  ['StringNotLike', 'a*', 'b', 'ab'],
  ['NumericEquals', '1', '1', '2'],
  ['NumericNotEquals', '1', '2', '1'],
  ['NumericLessThan', '5', '4', '5'],
  ['NumericLessThanEquals', '5', '5', '6'],
  ['NumericGreaterThan', '5', '6', '5'],
  ['NumericGreaterThanEquals', '5', '5', '4'],
  ['DateEquals', '2026', '2026-01-01', '2027'],
  ['DateNotEquals', '2026', '2027', '2026'],
  ['DateLessThan', '2026', '2025', '2026'],
  ['DateLessThanEquals', '2026', '2026', '2027'],
  ['DateGreaterThan', '2026', '2027', '2026'],
  ['DateGreaterThanEquals', '2026', '2026', '2025'],
  ['Bool', 'true', 'true', 'false'],
  ['BinaryEquals', 'YQ==', 'a', 'b'],
  ['IpAddress', '10.0.0.0/8', '10.1.1.1', '11.1.1.1'],
  ['NotIpAddress', '10.0.0.0/8', '11.1.1.1', '10.1.1.1'],
  ['ArnEquals', 'arn:aws:a:::x', 'arn:aws:a:::x', 'arn:aws:a:::y'],
  ['ArnNotEquals', 'arn:aws:a:::x', 'arn:aws:a:::y', 'arn:aws:a:::x'],
  ['ArnLike', 'arn:aws:a:::*', 'arn:aws:a:::x', 'arn:aws:b:::x'],
  ['ArnNotLike', 'arn:aws:a:::*', 'arn:aws:b:::x', 'arn:aws:a:::x'],
];

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_IfExists */
describe.each(operators)('%sIfExists', (operator, expected, good, bad) => {
  it.each([
    ['a value that fits', good, true],
    ['a value that does not', bad, false],
    ['no such key', undefined, true],
  ])('on %s (%s): %s', (_, actual, outcome) => {
    expect(holds(`${operator}IfExists`, expected, actual)).toEqual(both(outcome));
  });
});

describe.each(operators)('%s', (operator, expected, good, bad) => {
  const negated = operator.includes('Not');

  it.each([
    ['a value that fits', good, true],
    ['a value that does not', bad, false],
    ['no such key', undefined, negated],
  ])('on %s (%s): %s', (_, actual, outcome) => {
    expect(holds(operator, expected, actual)).toEqual(both(outcome));
  });

  // Each value of the request by itself, negated or not.
  it.each([
    ['ForAllValues', [good, good], true],
    ['ForAllValues', [good, bad], false],
    ['ForAllValues', [bad], false],
    ['ForAllValues', undefined, true],
    ['ForAnyValue', [bad, good], true],
    ['ForAnyValue', [bad, bad], false],
    ['ForAnyValue', [good], true],
    ['ForAnyValue', undefined, false],
  ] as const)('with %s on %j: %s', (prefix, actual, outcome) => {
    expect(holds(`${prefix}:${operator}`, expected, actual)).toEqual(both(outcome));
  });

  it.each(['ForAllValues', 'ForAnyValue'])('with %s and IfExists on no such key: true', (prefix) => {
    expect(holds(`${prefix}:${operator}IfExists`, expected, undefined)).toEqual(both(true));
  });
});

describe('a key of which it is unknown whether the request has it', () => {
  it.each(['StringEquals', 'StringNotEquals', 'StringEqualsIfExists', 'ForAllValues:StringEquals', 'Null'])(
    'makes an Allow by %s not apply, and a Deny apply',
    (operator) => {
      for (const context of [{}, { 'jwt:team': [] }] as PolicyRequest['context'][]) {
        const request = { context, isUnknown: (key: string) => key === 'jwt:team' };
        const Condition = { [operator]: { 'jwt:team': 'true' } };
        expect(applies({ Effect: 'Allow', Action: 's3:*', Resource: '*', Condition }, request)).toBe(false);
        expect(applies({ Effect: 'Deny', Action: 's3:*', Resource: '*', Condition }, request)).toBe(true);
      }
    },
  );
});
