import { describe, expect, it } from 'vitest';
import { both, holds, type Actual } from '../../test/support/policy/policy-cases.ts';

const queue = 'arn:aws:sqs:us-east-2:123456789012:queue';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_ARN */
describe.each([
  ['ArnEquals', true],
  ['ArnLike', true],
  ['ArnNotEquals', false],
  ['ArnNotLike', false],
] as const)('%s', (operator, positive) => {
  it.each<[unknown, Actual, boolean]>([
    [queue, queue, true],
    [queue, queue.toUpperCase(), false],
    [queue, `${queue}2`, false],
    ['arn:aws:sqs:*:*:queue', queue, true],
    ['arn:aws:sqs:us-????-2:123456789012:queue', queue, true],
    ['arn:aws:sqs:us-east-2:123456789012:*', queue, true],
    ['arn:*:*:*:*:*', queue, true],
    ['arn:aws:sns:*:*:*', queue, false],
    // Each of the six parts by itself: a star never reaches over a colon …
    [
      'arn:aws:someservice:*:111122223333:finance/*',
      'arn:aws:someservice:us-east-2:999999999999:store/abc:111122223333:finance/document.txt',
      false,
    ],
    // … but the sixth has colons of its own.
    ['arn:aws:sns:::topic:*', 'arn:aws:sns:::topic:a:b', true],
    ['arn:aws:iam::*:user/*', 'arn:aws:iam::123456789012:user/division/ann', true],
    ['arn:aws:iam:::user/ann', 'arn:aws:iam::123456789012:user/ann', false],
    [[queue, 'arn:aws:iam:::user/*'], 'arn:aws:iam:::user/bob', true],
    [queue, 'not an arn', false],
    ['arn:*:*:*:*:*', 'a:b:c:d:e:f', false],
    [queue, undefined, false],
  ])('%j on %j: %s', (expected, actual, found) => {
    expect(holds(operator, expected, actual)).toEqual(both(found === positive));
  });

  it.each(['', '*', 'queue', 'arn:aws:sqs', 'arn:aws:iam:*:user/ann', 'urn:a:b:c:d:e'])(
    'refuses the value "%s"',
    (value) => {
      expect(() => holds(operator, value, queue)).toThrow(/must be an ARN of six parts/);
    },
  );
});

describe('variables in ARNs', () => {
  const expected = 'arn:aws:iam:::user/${aws:username}';

  it('stand for their value, whose wildcards are literal', () => {
    expect(holds('ArnLike', expected, 'arn:aws:iam:::user/ann', { 'aws:username': 'ann' })).toEqual(both(true));
    expect(holds('ArnLike', expected, 'arn:aws:iam:::user/ann', { 'aws:username': '*' })).toEqual(both(false));
  });

  it('keep the colon of their name to themselves', () => {
    expect(holds('ArnEquals', 'arn:aws:iam:::${aws:username}', 'arn:aws:iam:::ann', { 'aws:username': 'ann' })).toEqual(
      both(true),
    );
  });

  it('never widen an Allow of ArnNotLike where nothing is known for them', () => {
    expect(holds('ArnNotLike', expected, 'arn:aws:iam:::user/ann')).toEqual({ allow: false, deny: true });
  });
});
